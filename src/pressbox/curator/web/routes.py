"""Everything that the curator serves: the reader's pages, and its API."""

from fastapi import APIRouter

from pressbox.curator.web import reading

router = APIRouter()
router.include_router(reading.router)
