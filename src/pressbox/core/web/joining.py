"""Joins routers into one."""

from fastapi import APIRouter


def join_routers(*routers: APIRouter) -> APIRouter:
    """One router with the routes of all, in this order.

    A router that is included in another is analysed once more for each level, whether or not a request comes; this one
    holds the very same routes, which have the prefix, tags and dependencies of their own router already.
    """
    return APIRouter(routes=[route for router in routers for route in router.routes])
