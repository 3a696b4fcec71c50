from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pipelines import formats
from pipelines.errors import ArtifactMismatch, ArtifactMissing
from pipelines.generation import EncoderInfo, GenerationDocument, draft_generation
from pipelines.identity import bucket_of
from pipelines.plan import Inputs, Plan, repository_targets
from pipelines.records import SkipReason
from pipelines.settings import Settings, override
from pipelines.store import Pointer
from tests.spine.builders import fill, fill_plan, make_file, make_store, plan_of

FILES = tuple(make_file(f"src/module_{number}.py") for number in range(60))


def moved(before: Plan, after: Plan, asset: str = "chunk_vectors") -> set[str]:
    return {
        bucket
        for bucket, plan in after.buckets.items()
        if plan.targets[asset].ref != before.buckets[bucket].targets[asset].ref
    }


def test_a_changed_file_changes_its_bucket_alone() -> None:
    changed = make_file("src/module_7.py", "y")
    before, after = plan_of(*FILES), plan_of(*(changed if file.path == changed.path else file for file in FILES))
    for asset in formats.BUCKET_FORMATS:
        assert moved(before, after, asset.name) == {bucket_of("src/module_7.py", 16)}
    assert before.generation != after.generation


def test_a_skipped_file_is_an_input_too() -> None:
    skipped = replace(FILES[3], skip_reason=SkipReason.TOO_LARGE)
    after = plan_of(*(skipped if file is FILES[3] else file for file in FILES))
    assert moved(plan_of(*FILES), after) == {bucket_of(FILES[3].path, 16)}


def test_the_order_of_a_listing_within_a_bucket_is_the_listing_s_own() -> None:
    assert plan_of(*FILES).generation == plan_of(*FILES).generation


@pytest.mark.parametrize(
    ("section", "values", "bucket_asset_moves", "first_asset_that_moves"),
    [
        ("chunking", {"max_chars": 500}, True, "chunks"),
        ("diffusion", {"enabled": True}, False, "diffused_vectors"),
        ("quantization", {"bits": 512}, False, "binary_codes"),
        ("quantization", {"seed": 1}, False, "binary_codes"),
        ("evaluation", {"floor": 0.1}, False, "eval_runs"),
    ],
)
def test_a_setting_moves_what_depends_on_it_and_nothing_above(
    section: str, values: dict[str, object], bucket_asset_moves: bool, first_asset_that_moves: str
) -> None:
    before, after = plan_of(*FILES), plan_of(*FILES, settings=override(Settings(), section, **values))
    order = [item.name for item in (*formats.BUCKET_FORMATS, *formats.REPOSITORY_FORMATS)]

    def same(plan: Plan, other: Plan, asset: str) -> bool:
        if asset in plan.targets:
            return plan.targets[asset].ref == other.targets[asset].ref
        return not moved(plan, other, asset)

    assert next(asset for asset in order if not same(before, after, asset)) == first_asset_that_moves
    assert bool(moved(before, after)) == bucket_asset_moves


@pytest.mark.parametrize(
    "settings", [override(Settings(), "index", workers=4), override(Settings(), "artifacts", keep=9)]
)
def test_what_changes_no_output_changes_no_fingerprint(settings: Settings) -> None:
    assert plan_of(*FILES, settings=settings).generation == plan_of(*FILES).generation


def test_every_encoder_has_its_own_vectors() -> None:
    assert len(moved(plan_of(*FILES, encoder="one"), plan_of(*FILES, encoder="two"))) == 16


def test_two_repositories_share_no_artifact() -> None:
    one, two = plan_of(*FILES, repo="one"), plan_of(*FILES, repo="two")
    assert one.generation != two.generation


def test_the_store_is_compared_with_what_is_wanted(tmp_path: Path) -> None:
    store, plan = make_store(tmp_path), plan_of(*FILES)
    assert plan.changed_buckets(store) == list(plan.buckets)
    fill_plan(store, plan)
    assert plan.changed_buckets(store) == []
    assert not plan.published(store)
    document = draft_generation(plan.repo, plan.targets, EncoderInfo("hash", "encoder", 256))
    store.write_generation(plan.repo, plan.generation, document.as_json())
    store.publish(plan.repo, Pointer(plan.generation, "c0ffee", False, "now"))
    assert plan.published(store)
    (store.folder(plan.buckets["b03"].targets["chunks"].ref) / "values.npy").unlink()
    assert plan.changed_buckets(store) == ["b03"]
    assert not plan.published(store)


def test_a_generation_names_every_artifact_it_is_made_of(tmp_path: Path) -> None:
    plan = plan_of(*FILES)
    document = draft_generation(plan.repo, plan.targets, EncoderInfo("hash", "encoder", 256))
    assert document.generation == plan.generation
    wanted = {target.ref for target in plan.targets.values()}
    wanted |= {target.ref for bucket in plan.buckets.values() for target in bucket.targets.values()}
    assert set(document.refs) == wanted
    assert GenerationDocument.from_json(document.as_json()) == document
    assert [ref.bucket for ref in document.buckets("chunks")] == list(plan.buckets)


def test_repository_artifacts_follow_from_the_heads(tmp_path: Path) -> None:
    store, plan = make_store(tmp_path), plan_of(*FILES)
    inputs = Inputs(Settings(), "encoder", "grammars")
    with pytest.raises(ArtifactMissing, match="symbols of repository sample, bucket b00, was never materialised"):
        repository_targets(store, "sample", inputs)
    fill_plan(store, plan)
    assert repository_targets(store, "sample", inputs) == dict(plan.targets)


def test_buckets_of_different_settings_or_trees_are_not_mixed(tmp_path: Path) -> None:
    store, plan = make_store(tmp_path), plan_of(*FILES)
    fill_plan(store, plan)
    with pytest.raises(ArtifactMismatch, match="chunk_vectors of sample, bucket b00, was built with other settings"):
        repository_targets(store, "sample", Inputs(Settings(), "another encoder", "grammars"))
    changed = plan_of(make_file("src/module_7.py", "y"))
    fill(store, changed.buckets["b05"].targets["chunks"])
    with pytest.raises(ArtifactMismatch, match="chunks of sample, bucket b05"):
        repository_targets(store, "sample", Inputs(Settings(), "encoder", "grammars"))
