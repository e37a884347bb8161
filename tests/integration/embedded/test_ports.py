"""Ports that are held are nobody else's until they are let go."""

from pressbox.embedded.ports import hold_ports, is_free


def test_held_ports_are_different_and_taken_until_they_are_let_go() -> None:
    held = hold_ports(12)
    try:
        ports = [one.getsockname()[1] for one in held]
        assert len(set(ports)) == 12
        assert not any(is_free(port) for port in ports)
    finally:
        for one in held:
            one.close()
