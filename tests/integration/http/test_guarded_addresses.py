"""Where the outbound client does not go: private addresses, by any spelling, redirect or change of mind of the DNS."""

import pytest

from pressbox.core.config import HttpSettings
from pressbox.core.errors import InvalidInputError, RefusedAddressError, TransientError
from pressbox.core.http.client import GuardedClient
from pressbox.core.http.exchange import TooManyRedirectsError
from tests.integration.http.loopback import LoopbackServer, ScriptedResolver, running
from tests.patience import patience


def guarded(server: LoopbackServer, resolver: ScriptedResolver | None = None, *extra: str) -> GuardedClient:
    return GuardedClient(HttpSettings(allow=(f"127.0.0.1:{server.port}", *extra)), resolver=resolver)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1",
        "127.0.0.1.",
        "0x7f.1",
        "0x7f000001",
        "0177.0.0.1",
        "2130706433",
        "017700000001",
        "localhost",
        "LOCALHOST.",
        "0",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[fe80::1]",
        "169.254.169.254",
        "10.0.0.1",
        "100.64.0.1",
        "192.168.0.1",
        "224.0.0.1",
        "255.255.255.255",
    ],
)
async def test_no_spelling_of_a_private_address_is_reached(server: LoopbackServer, host: str) -> None:
    server.answers("/")
    async with GuardedClient(HttpSettings(timeout_seconds=patience(5))) as client:
        # A spelling may also not be read at all; then there is nothing to connect to.
        with pytest.raises((RefusedAddressError, InvalidInputError, TransientError)) as caught:
            await client.get(f"http://{host}:{server.port}/")
    assert server.connections == 0
    if isinstance(caught.value, RefusedAddressError):
        assert "PRESSBOX_HTTP_ALLOW" in caught.value.message


async def test_plain_loopback_is_refused_and_the_error_says_how_to_allow_it(server: LoopbackServer) -> None:
    async with GuardedClient(HttpSettings()) as client:
        with pytest.raises(RefusedAddressError, match=rf"PRESSBOX_HTTP_ALLOW=127\.0\.0\.1:{server.port}"):
            await client.get(server.url("/"))


async def test_the_error_does_not_tell_where_a_name_leads() -> None:
    resolver = ScriptedResolver(intranet_example=["10.11.12.13"])
    async with GuardedClient(HttpSettings(), resolver=resolver) as client:
        with pytest.raises(RefusedAddressError) as caught:
            await client.get("http://intranet.example/")
    assert "10.11.12.13" not in repr(caught.value)


async def test_a_name_on_the_allow_list_is_reached(server: LoopbackServer) -> None:
    server.answers("/", body=b"printer")
    settings = HttpSettings(allow=(f"printer.example:{server.port}",))
    resolver = ScriptedResolver(printer_example=["127.0.0.1"], other_example=["127.0.0.1"])
    async with GuardedClient(settings, resolver=resolver) as client:
        assert (await client.get(server.url("/", "printer.example"))).body == b"printer"
        with pytest.raises(RefusedAddressError):
            await client.get(server.url("/", "other.example"))
    assert server.requests[0].headers["host"] == f"printer.example:{server.port}"


async def test_a_network_on_the_allow_list_is_reached() -> None:
    async with running("127.9.9.9") as server:
        server.answers("/", body=b"inside")
        async with GuardedClient(HttpSettings(allow=("127.9.9.0/24",))) as client:
            assert (await client.get(server.url("/"))).body == b"inside"


async def test_a_redirect_to_a_private_address_is_refused(server: LoopbackServer) -> None:
    async with running() as inside, guarded(server) as client:
        inside.answers("/", body=b"secret")
        for location in (inside.url("/"), f"//127.0.0.1:{inside.port}/", f"http://[::1]:{inside.port}/"):
            server.redirects("/", location)
            with pytest.raises(RefusedAddressError):
                await client.get(server.url("/"))
        assert inside.connections == 0


async def test_a_name_that_changes_its_address_is_looked_up_once_per_connection(server: LoopbackServer) -> None:
    """The second answer leads inside: a second look-up, between check and connection, would take us there."""
    server.answers("/", body=b"public")
    async with running("127.0.0.2", server.port) as inside:
        inside.answers("/", body=b"secret")
        resolver = ScriptedResolver(rebind_example=["127.0.0.1", "127.0.0.2"])
        async with guarded(server, resolver) as client:
            assert (await client.get(server.url("/", "rebind.example"))).body == b"public"
            assert resolver.asked == ["rebind.example"]
            with pytest.raises(RefusedAddressError):
                await client.get(server.url("/", "rebind.example"))
        assert inside.connections == 0


async def test_a_redirect_to_the_same_name_is_checked_again(server: LoopbackServer) -> None:
    server.redirects("/", "/again")
    async with running("127.0.0.2", server.port) as inside:
        inside.answers("/again", body=b"secret")
        resolver = ScriptedResolver(rebind_example=["127.0.0.1", "127.0.0.2"])
        async with guarded(server, resolver) as client:
            with pytest.raises(RefusedAddressError):
                await client.get(server.url("/", "rebind.example"))
        assert inside.connections == 0


@pytest.mark.parametrize("answers", [("127.0.0.1", "10.0.0.1"), ("10.0.0.1", "127.0.0.1"), ("127.0.0.1", "::1")])
async def test_one_bad_address_condemns_the_name(server: LoopbackServer, answers: tuple[str, str]) -> None:
    async with guarded(server, ScriptedResolver(mixed_example=[answers])) as client:
        with pytest.raises(RefusedAddressError):
            await client.get(server.url("/", "mixed.example"))
    assert server.connections == 0


async def test_the_next_address_is_tried_when_one_does_not_answer(server: LoopbackServer) -> None:
    server.answers("/", body=b"second")
    resolver = ScriptedResolver(two_example=[("127.0.0.3", "127.0.0.1")])
    async with guarded(server, resolver, f"127.0.0.3:{server.port}") as client:
        assert (await client.get(server.url("/", "two.example"))).body == b"second"


@pytest.mark.parametrize("resolver", [ScriptedResolver(), ScriptedResolver(name_example=[()])])
async def test_a_name_without_address_is_worth_another_try(resolver: ScriptedResolver) -> None:
    async with GuardedClient(HttpSettings(), resolver=resolver) as client:
        with pytest.raises(TransientError, match=r"name\.example"):
            await client.get("http://name.example/")


async def test_the_real_resolver_says_that_a_name_does_not_resolve() -> None:
    async with GuardedClient(HttpSettings(timeout_seconds=patience(20))) as client:
        with pytest.raises(TransientError):
            await client.get("http://nothing.invalid/")


@pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://example.org/", "gopher://127.0.0.1:6379/_FLUSHALL"])
async def test_a_redirect_to_another_scheme_is_refused(server: LoopbackServer, location: str) -> None:
    server.redirects("/", location)
    async with guarded(server) as client:
        with pytest.raises(RefusedAddressError, match="Only http and https"):
            await client.get(server.url("/"))


@pytest.mark.parametrize(
    "location", ["http://[bad/", "http://a..b/", "http://example.org:0/", "http://a:b@example.org/"]
)
async def test_a_redirect_to_nonsense_is_refused(server: LoopbackServer, location: str) -> None:
    server.redirects("/", location)
    async with guarded(server) as client:
        with pytest.raises((InvalidInputError, RefusedAddressError)):
            await client.get(server.url("/"))


async def test_redirects_are_followed_and_the_last_address_is_told(server: LoopbackServer) -> None:
    server.redirects("/", "/two", "301 Moved Permanently")
    server.redirects("/two", server.url("/three?x=1"), "308 Permanent Redirect")
    server.answers("/three?x=1", body=b"here")
    async with guarded(server) as client:
        answer = await client.get(server.url("/"))
    assert (answer.url, answer.body) == (server.url("/three?x=1"), b"here")


async def test_permanent_redirects_are_told_until_the_first_other(server: LoopbackServer) -> None:
    server.redirects("/", "/two", "301 Moved Permanently")
    server.redirects("/two", "/three", "308 Permanent Redirect")
    server.redirects("/three", "/four", "302 Found")
    server.redirects("/four", "/five", "301 Moved Permanently")
    server.answers("/five", body=b"here")
    async with guarded(server) as client:
        answer = await client.get(server.url("/"))
        assert (answer.url, answer.moved_to) == (server.url("/five"), server.url("/three"))
        assert (await client.get(server.url("/three"))).moved_to is None
        assert (await client.get(server.url("/five"))).moved_to is None


async def test_a_redirect_without_target_is_just_a_status(server: LoopbackServer) -> None:
    server.answers("/", "302 Found", b"where to?")
    async with guarded(server) as client:
        assert (await client.get(server.url("/"))).status == 302


async def test_a_redirect_loop_ends(server: LoopbackServer) -> None:
    server.redirects("/", "/")
    async with guarded(server) as client:
        with pytest.raises(TooManyRedirectsError, match="More than 5 redirects"):
            await client.get(server.url("/"))
    assert len(server.requests) == 6


SECRETS = {"Authorization": "Bearer one", "Cookie": "session=two", "X-Api-Key": "three"}


async def test_credentials_stay_with_their_host(server: LoopbackServer) -> None:
    resolver = ScriptedResolver(one_example=["127.0.0.1"], two_example=["127.0.0.1"])
    server.redirects("/", server.url("/next", "two.example"))
    server.answers("/next")
    async with guarded(server, resolver) as client:
        await client.get(server.url("/", "one.example"), headers={**SECRETS, "Accept": "text/xml"})
    first, second = server.requests
    assert all(first.headers[name.lower()] == value for name, value in SECRETS.items())
    assert not {name.lower() for name in SECRETS} & set(second.headers)
    assert second.headers["accept"] == "text/xml"


async def test_credentials_go_along_on_the_same_host(server: LoopbackServer) -> None:
    server.redirects("/", "/next")
    server.answers("/next")
    async with guarded(server) as client:
        await client.get(server.url("/"), headers=SECRETS)
    assert server.requests[1].headers["authorization"] == "Bearer one"


async def test_cookies_are_never_kept(server: LoopbackServer) -> None:
    server.answers("/", Set_Cookie="session=1; Path=/")
    async with guarded(server) as client:
        await client.get(server.url("/"))
        await client.get(server.url("/"))
    assert all("cookie" not in request.headers for request in server.requests)


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other"])
async def test_posted_data_is_not_repeated_after_a_see_other(server: LoopbackServer, status: str) -> None:
    server.redirects("/", "/result", status)
    server.answers("/result", body=b"done")
    async with guarded(server) as client:
        assert (await client.post(server.url("/"), b"data")).body == b"done"
    assert [(request.method, request.body) for request in server.requests] == [("POST", b"data"), ("GET", b"")]


async def test_posted_data_is_repeated_on_the_same_host_only(server: LoopbackServer) -> None:
    resolver = ScriptedResolver(one_example=["127.0.0.1"], two_example=["127.0.0.1"])
    server.redirects("/", "/result", "307 Temporary Redirect")
    server.answers("/result", body=b"done")
    async with guarded(server, resolver) as client:
        assert (await client.post(server.url("/", "one.example"), b"data")).body == b"done"
        assert server.requests[1].body == b"data"
        server.redirects("/", server.url("/result", "two.example"), "307 Temporary Redirect")
        with pytest.raises(RefusedAddressError, match="another host"):
            await client.post(server.url("/", "one.example"), b"data")
