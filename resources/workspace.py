"""What one run works with: a deployment's store, and for each repository its listing, plan, source and encoder.

Everything is loaded when it is first asked for and then kept, so that all assets of one run see one listing. `refresh`
forgets what was seen of a repository; a new run makes a new workspace.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from pipelines.artifacts import Target
from pipelines.discover import grammar_versions, list_files
from pipelines.embedding import make_encoder
from pipelines.errors import ArtifactMissing, InputError, NotAgreed, StrataError
from pipelines.fingerprint import digest_bytes
from pipelines.generation import EncoderInfo, GenerationDocument, draft_generation
from pipelines.locks import repository_lock
from pipelines.plan import Inputs, Plan, make_plan, repository_targets
from pipelines.progress import Progress, Silent
from pipelines.records import CheckResult, Encoder, Listing, Metered, SourceTree, Staleness
from pipelines.report import StageReport
from pipelines.settings import BUNDLED, EmbedderSettings, IndexSettings, Settings
from pipelines.store import ArtifactStore, Pointer
from resources.bundled import deny_patterns, encoder_folder
from resources.deployment import Deployment
from resources.registry import Entry, Registered, Registry
from resources.repositories import Repository, judgments_of, repositories_of, settings_of
from resources.services import api_key

if TYPE_CHECKING:
    from pipelines.discover import ParserPool

#: A writer waits this long for another one, in seconds: the first build of a very large repository takes an hour.
LOCK_WAIT_S = 7_200.0


class Workspace:
    """A store with its repositories. `reports` and `checks` collect what the assets of this run did.

    `agreed_tokens` is how many tokens may be paid for in this run, besides what the settings allow.
    """

    def __init__(
        self, deployment: Deployment, *, store: ArtifactStore | None = None, progress: Progress | None = None
    ) -> None:
        self.deployment = deployment
        self.store = store or ArtifactStore(deployment.store_root)
        self.registry = Registry(deployment.store_root)
        self.progress: Progress = progress or Silent()
        self.reports: list[StageReport] = []
        self.checks: list[CheckResult] = []
        self.agreed_tokens = 0
        self._stack = ExitStack()
        self._repositories = repositories_of(deployment, self.registry.read())
        self._plans: dict[str, Plan] = {}
        self._trees: dict[str, SourceTree] = {}
        self._encoders: dict[EmbedderSettings, Encoder] = {}
        self._pools: dict[IndexSettings, ParserPool] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    # --- repositories ---

    @property
    def repositories(self) -> Mapping[str, Repository]:
        """The repositories by key."""
        return self._repositories

    def repository(self, key: str) -> Repository:
        """Return a repository; InputError, naming those that are known, for an unknown key."""
        try:
            return self._repositories[key]
        except KeyError:
            known = ", ".join(self._repositories) or "none"
            raise InputError(
                f"repository {key!r} is not known to the store {self.store.root}; known: {known}",
                hint="add it with `strata repos add KEY PATH`, or index its path",
            ) from None

    def take(self, repository: Repository) -> None:
        """Work with a repository as it is given, in place of what is registered of it; nothing is written."""
        self._repositories = {**self._repositories, repository.key: repository}
        self.refresh(repository.key)

    def remember(self, repository: Repository) -> None:
        """Write a repository and the request for it into the registry, if they are not there yet."""
        given = repositories_of(self.deployment, Registered())

        def change(content: Registered) -> Registered:
            other = content.entries.get(repository.key)
            if other is not None and other.root != repository.root.resolve():
                raise InputError(f"repository key {repository.key} is taken by {other.root}", hint="choose another key")
            if repository.key not in given:
                content = content.with_entry(repository.key, Entry(repository.root.resolve(), repository.pinned))
            return content.with_request(repository.key, repository.request)

        self.registry.update(change)

    def settings(self, key: str) -> Settings:
        """Return the settings of a repository."""
        return settings_of(self.deployment, self.repository(key))

    def judgments(self, key: str) -> Path | None:
        """Return the judgment file of a repository, None without one."""
        return judgments_of(self.deployment, self.repository(key), self.settings(key))

    # --- source ---

    def listing(self, key: str) -> Listing:
        """Return the files of a repository, as they were when this was first asked."""
        return self.plan(key).listing

    def list_source(self, key: str) -> Listing:
        """List the files of a repository now."""
        repository = self.repository(key)
        index = self.settings(key).index
        self.progress.begin("listing files", 0)
        listing = list_files(repository.root, key, index, rev=repository.rev, deny=deny_patterns())
        self.progress.end()
        return listing

    def tree(self, key: str) -> SourceTree:
        """Return the reader of a repository's files."""
        if key not in self._trees:
            from pipelines.discover import open_tree  # here and below: only a build needs them

            repository = self.repository(key)
            tree = open_tree(repository.root, self.listing(key), rev=repository.rev)
            self._trees[key] = self._stack.enter_context(tree)
        return self._trees[key]

    def pool(self, key: str) -> ParserPool:
        """Return the parser processes, started on first use and ended with the workspace."""
        index = self.settings(key).index
        if index not in self._pools:
            from pipelines.discover import ParserPool

            self._pools[index] = self._stack.enter_context(ParserPool(index))
        return self._pools[index]

    # --- wanted state ---

    def encoder(self, key: str) -> Encoder:
        """Return the encoder of a repository's settings; equal settings share one."""
        settings = self.settings(key).embedder
        if settings not in self._encoders:
            self._encoders[settings] = make_encoder(settings, encoder_folder(), api_key)
        return self._encoders[settings]

    def encoder_of(self, key: str, made_by: EncoderInfo) -> Encoder:
        """Return the encoder that made a generation: the settings may have changed since, and it is still served."""
        encoder = self.encoder(key)
        if encoder.digest == made_by.digest or made_by.name not in BUNDLED:
            return encoder
        other = make_encoder(EmbedderSettings(made_by.name, dimensions=made_by.dimensions), encoder_folder())
        return other if other.digest == made_by.digest else encoder

    def require_agreement(self, key: str, targets: Sequence[Target]) -> None:
        """Let chunk_vectors be made only if what that costs was agreed to; their chunks are in the store.

        :raises NotAgreed: with the estimate, if it was not.
        """
        encoder = self.encoder(key)
        if isinstance(encoder, Metered):
            needed = encoder.estimate(self.store, targets)
            if needed.tokens > max(self.agreed_tokens, self.settings(key).embedder.agreed_tokens):
                hint = "add --yes to agree, or set embedder.agreed_tokens for runs that nobody watches"
                raise NotAgreed(f"{needed}, has not been agreed to", needed.tokens, hint=hint)

    def inputs(self, key: str) -> Inputs:
        """Return what the artifacts of a repository depend on besides its files."""
        path = self.judgments(key)
        try:
            judgments = digest_bytes(path.read_bytes()).hex() if path else ""
        except OSError as error:
            raise InputError(f"cannot read the judgments of {key}, {path}: {error.strerror}") from error
        return Inputs(self.settings(key), self.encoder(key).digest, grammar_versions(), judgments)

    def plan(self, key: str) -> Plan:
        """Return the wanted state of a repository."""
        if key not in self._plans:
            self._plans[key] = make_plan(self.list_source(key), self.inputs(key))
        return self._plans[key]

    def refresh(self, key: str) -> None:
        """Forget what was seen of a repository's source."""
        self._plans.pop(key, None)
        self._trees.pop(key, None)

    def repository_targets(self, key: str) -> Mapping[str, Target]:
        """Return the per-repository artifacts that follow from what was materialised last in each bucket."""
        return repository_targets(self.store, key, self.inputs(key))

    def draft(self, key: str) -> GenerationDocument:
        """Return the generation that the repository's artifacts make, published or not."""
        return draft_generation(key, self.repository_targets(key), EncoderInfo.of(self.encoder(key)))

    def publish(self, key: str) -> Pointer:
        """Publish what is materialised of a repository; the caller holds its lock.

        :raises ArtifactMissing: if an artifact does not follow from the others, or lost its place to a failed check.
        """
        targets = self.repository_targets(key)
        for name, target in targets.items():
            if self.store.head(key, name) != target.ref.fingerprint:
                raise ArtifactMissing(
                    f"{name} of {key} does not follow from what it is made from, or failed a check",
                    hint=f"materialise {name} again, or run `strata index`",
                )
        from pipelines.serving.publish import publish_generation  # here: only a build needs it

        plan = self.plan(key)
        # what was built from an older state of the source has no commit that could be told
        current = targets == plan.targets
        return publish_generation(
            self.store,
            self.draft(key),
            commit=plan.listing.commit if current else "",
            dirty=plan.listing.dirty or not current,
            keep=self.settings(key).artifacts.keep,
        )

    def staleness(self, key: str) -> Staleness:
        """Tell how what is published relates to the source as it is now; unknown where that cannot be compared."""
        pointer = self.store.pointer(key)
        try:
            wanted = self.plan(key).generation
        except (StrataError, OSError):
            return Staleness.UNKNOWN
        if pointer is None:
            return Staleness.UNKNOWN
        return Staleness.FRESH if pointer.generation == wanted else Staleness.STALE

    @contextmanager
    def writing(self, key: str) -> Iterator[bool]:
        """Hold the write lock of a repository, waiting for another writer; tell whether there was one."""
        waited: list[str] = []

        def on_wait(holder: str) -> None:
            waited.append(holder)
            self.progress.note(f"waiting for {holder}, which is indexing {key}")

        self.store.initialise()
        with repository_lock(self.store, key, wait_s=LOCK_WAIT_S, on_wait=on_wait):
            yield bool(waited)
