"""Runs a program out of a package: a copy of what somebody looked at, and never of anything else."""

import asyncio
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from hookline._core.packages import Packaged, PackagedTarget
from hookline._core.payload import CallFailed, Limits, Payload, Reply
from hookline._core.reasons import Failure
from hookline._core.targets import CommandTarget
from hookline.adapters._limits import closed, could_not_start, timed_out
from hookline.adapters.command import CommandAdapter

if TYPE_CHECKING:  # few engines have a package to run from
    from hookline._core.held_folders import HeldFolder


class PackagedAdapter:
    """Runs each program from a copy of its package, through the adapter for commands.

    A copy is made when the first program of a package is called, and looked over before each further call: one that
    anybody wrote to is not used again. What has another digest than the one that was looked at is not run. Copies are
    removed at the end; those of a host that was killed, by the next one.
    """

    def __init__(self, commands: CommandAdapter) -> None:
        self._commands = commands
        self._copies: dict[Packaged, _Copy] = {}
        self._folders: dict[Path, HeldFolder] = {}
        self._alone = Lock()
        self._giving_back: set[asyncio.Future[None]] = set()
        self._count = 0
        self._closed = False

    async def call(self, target: PackagedTarget, payload: Payload, limits: Limits) -> Reply:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        copy = await self._copy_within(target, limits)
        if isinstance(copy, CallFailed):
            return copy
        try:
            left = limits.timeout - (loop.time() - begun)
            if left <= 0:
                return timed_out(limits)
            reply = await self._commands.call(_moved(target, copy.root), payload, replace(limits, timeout=left))
        finally:
            await asyncio.shield(asyncio.to_thread(self._given_back, copy))
        if isinstance(reply, CallFailed) and reply.why is Failure.TIMEOUT:
            return replace(reply, detail=timed_out(limits).detail)  # the limit is its own, not what was left of it
        return reply

    async def _copy_within(self, target: PackagedTarget, limits: Limits) -> "_Copy | CallFailed":
        """A copy to run from, if there is one in time."""
        taking = asyncio.ensure_future(asyncio.to_thread(self._taken, target))
        try:
            return await asyncio.wait_for(asyncio.shield(taking), limits.timeout)
        except TimeoutError:
            taking.add_done_callback(self._unwanted)
            return timed_out(limits)
        except asyncio.CancelledError:
            taking.add_done_callback(self._unwanted)
            raise

    def _unwanted(self, taking: "asyncio.Future[_Copy | CallFailed]") -> None:
        """A copy came when nobody waited for it any more."""
        if not taking.cancelled() and taking.exception() is None and isinstance(copy := taking.result(), _Copy):
            given_back = taking.get_loop().run_in_executor(None, self._given_back, copy)
            self._giving_back.add(given_back)
            given_back.add_done_callback(self._giving_back.discard)

    async def aclose(self) -> None:
        """End what runs from the copies, and remove them."""
        self._closed = True
        await self._commands.aclose()
        await asyncio.to_thread(self._remove)

    def _remove(self) -> None:
        with self._alone:
            for folder in self._folders.values():
                folder.close()
            self._folders.clear()
            self._copies.clear()

    def _taken(self, target: PackagedTarget) -> "_Copy | CallFailed":
        """A copy of the package to run from, or why there is none."""
        with self._alone:
            if self._closed:
                return closed()
            key = target.packaged
            copy = self._copies.get(key)
            if copy is None or not copy.is_untouched():
                if copy is not None:
                    copy.retired = True
                    self._let_go(copy)
                made = self._made(target.packaged)
                if isinstance(made, CallFailed):
                    self._copies.pop(key, None)
                    return made
                copy = self._copies[key] = made
            copy.users += 1
            return copy

    def _given_back(self, copy: "_Copy") -> None:
        with self._alone:
            copy.users -= 1
            self._let_go(copy)

    def _let_go(self, copy: "_Copy") -> None:
        """Remove a copy that nobody will use again, once nobody does."""
        if copy.retired and not copy.users:
            from hookline._core.package_files import take_away

            take_away(copy.root.parent)

    def _made(self, wanted: Packaged) -> "_Copy | CallFailed":
        """A new copy, or why there is none: the package is not what was looked at, or nothing can be written."""
        from hookline._core.package_files import Limits as PackageLimits
        from hookline._core.package_files import PackageFault, read_package, signature, take_away

        root = None
        try:
            root = self._place_for(wanted)
            if self._digest_of_copy(wanted, root) == wanted.digest:
                seen = signature(root)
                # Nobody wrote to the copy while it was made either, and from now on that would show.
                if read_package(root, PackageLimits()).digest == wanted.digest and signature(root) == seen:
                    return _Copy(root, seen)
            why = wanted.why
        except PackageFault as fault:
            why = f"{wanted.why}: {fault}"
        except OSError as error:
            why = f"the copy of {wanted.package}, from which it runs: {error.strerror or error}"
        if root is not None:
            take_away(root.parent)
        return could_not_start(why)

    def _place_for(self, wanted: Packaged) -> Path:
        """Where the next copy is going to be, in a folder of its own."""
        from hookline._core.held_folders import HeldFolder

        folder = self._folders.get(wanted.copies)
        if folder is None:
            folder = self._folders[wanted.copies] = HeldFolder.within(wanted.copies)
        self._count += 1
        home = folder.path / str(self._count)
        home.mkdir(mode=0o700)
        return home / wanted.package.name

    def _digest_of_copy(self, wanted: Packaged, root: Path) -> str:
        from hookline._core.package_files import Limits as PackageLimits
        from hookline._core.package_files import copy_package

        return copy_package(wanted.package, root, PackageLimits(), lasting=False).digest


class _Copy:
    """One copy, and what it looked like when it was whole. `retired`: it is not to be used again."""

    __slots__ = ("retired", "root", "seen", "users")

    def __init__(self, root: Path, seen: str) -> None:
        self.root = root
        self.seen = seen
        self.users = 0
        self.retired = False

    def is_untouched(self) -> bool:
        from hookline._core.package_files import signature

        try:
            return signature(self.root) == self.seen
        except OSError:
            return False


def _moved(target: PackagedTarget, root: Path) -> CommandTarget:
    """The same command, of the copy."""
    argv = tuple(_moved_text(word, target.packaged.package, root) for word in target.argv)
    env = {name: _moved_text(value, target.packaged.package, root) for name, value in target.env.items()}
    return CommandTarget(argv=argv, env=env, written=target.written)


def _moved_text(text: str, package: Path, root: Path) -> str:
    here = str(package)
    if text == here or text.startswith(f"{here}/"):
        return f"{root}{text[len(here) :]}"
    return text
