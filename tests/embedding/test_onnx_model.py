from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pipelines.embedding import make_encoder
from pipelines.embedding.onnx_model import OnnxEncoder
from pipelines.errors import EncoderError
from pipelines.settings import EmbedderSettings
from tests.embedding.builders import DATA, embed, make_model, make_store

TEXTS = [
    "parse tree",
    "open the file",
    "",
    "  \n",
    "node",
    "parse the tree of the file node by node to the end",
    "🙂 \0",
]


def encoder_of(model: Path | str, tokenizer: Path | str = "", dimensions: int = 64) -> OnnxEncoder:
    settings = EmbedderSettings("onnx", str(model), str(tokenizer), dimensions)
    encoder = make_encoder(settings, DATA)
    assert isinstance(encoder, OnnxEncoder)
    return encoder


def test_vectors_are_unit_and_cut_to_the_wanted_width(tmp_path: Path) -> None:
    encoder = encoder_of(make_model(tmp_path))
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), 64)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 1, 0, 0, 1, 1, 1], atol=1e-6)
    np.testing.assert_array_equal(encoder.encode_query("Parse tree"), vectors[0])
    assert not encoder.encode_query(" 🙂").any()


def test_a_text_has_one_vector_alone_in_any_batch_and_in_any_order(tmp_path: Path) -> None:
    encoder = encoder_of(make_model(tmp_path))
    draw = random.Random(3)
    texts = [" ".join(draw.choices(["parse", "tree", "file", "odd"], k=draw.randrange(1, 12))) for _ in range(60)]
    alone = np.concatenate([encoder.encode([text]) for text in texts])
    in_sevens = np.concatenate([encoder.encode(texts[start : start + 7]) for start in range(0, 60, 7)])
    assert in_sevens.tobytes() == alone.tobytes()
    order = draw.sample(range(60), 60)
    assert encoder.encode([texts[index] for index in order]).tobytes() == alone[order].tobytes()


def test_a_ready_sentence_vector_is_taken_as_it_is(tmp_path: Path) -> None:
    pooled = encoder_of(make_model(tmp_path / "pooled", pooled=True)).encode(["parse tree"])
    mean = encoder_of(make_model(tmp_path / "plain")).encode(["parse tree"])
    np.testing.assert_allclose(pooled, mean, atol=1e-6)  # a sum and a mean have one direction


def test_pooling_prefixes_and_length_come_from_the_model_s_own_configuration(tmp_path: Path) -> None:
    plain = encoder_of(make_model(tmp_path / "plain"))
    configured = make_model(tmp_path / "configured")
    (configured.parent / "1_Pooling").mkdir()
    (configured.parent / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    (configured.parent / "config_sentence_transformers.json").write_text('{"prompts": {"query": "node "}}')
    cls = encoder_of(configured)
    np.testing.assert_array_equal(cls.encode(["parse tree"]), plain.encode(["parse"]))
    np.testing.assert_array_equal(cls.encode_query("tree"), plain.encode(["node"])[0])
    assert cls.digest != plain.digest


def test_texts_that_are_cut_off_are_counted(tmp_path: Path) -> None:
    encoder = encoder_of(make_model(tmp_path / "model"))
    encoder.encode(TEXTS)
    assert encoder.truncated == 1
    report, _ = embed(make_store(tmp_path), {"a.py": "parse " * 20, "b.py": "parse"}, encoder)
    assert report.extra["truncated"] == 1


def test_a_folder_and_the_onnx_subfolder_are_looked_through(tmp_path: Path) -> None:
    make_model(tmp_path / "export" / "onnx")
    shutil.move(tmp_path / "export" / "onnx" / "tokenizer.json", tmp_path / "export" / "tokenizer.json")
    assert encoder_of(tmp_path / "export").encode(["parse"]).any()


def test_a_word_list_serves_as_tokenizer(tmp_path: Path) -> None:
    model = make_model(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "vocab.txt").write_text("[UNK]\n[CLS]\n[SEP]\nparse\ntree\n[PAD]\n[MASK]\n")
    assert encoder_of(model).encode(["parse tree"]).any()


@pytest.mark.parametrize("name", ["sentencepiece.bpe.model", "tokenizer.model", "spiece.model"])
def test_a_sentencepiece_model_serves_as_tokenizer(tmp_path: Path, name: str) -> None:
    model = make_model(tmp_path, words=500)
    (tmp_path / "tokenizer.json").unlink()
    shutil.copyfile(Path(__file__).parent / "sentencepiece" / "unigram.model", tmp_path / name)
    encoder = encoder_of(model)
    assert encoder.encode(["parse tree"]).any()
    (tmp_path / "tokenizer_config.json").write_text('{"add_eos_token": true}')
    assert encoder_of(model).digest != encoder.digest


def test_the_length_that_was_set_for_a_model_goes_before_that_of_its_tokenizer(tmp_path: Path) -> None:
    text = "parse " * 12
    encoder = encoder_of(make_model(tmp_path))
    encoder.encode([text])
    assert encoder.truncated == 1  # the tokenizer.json says 8
    (tmp_path / "sentence_bert_config.json").write_text('{"max_seq_length": 16}')
    longer = encoder_of(tmp_path / "model.onnx")
    longer.encode([text])
    assert longer.truncated == 0
    assert longer.digest != encoder.digest


def test_an_unknown_pooling_is_refused(tmp_path: Path) -> None:
    model = make_model(tmp_path)
    (tmp_path / "1_Pooling").mkdir()
    config = tmp_path / "1_Pooling" / "config.json"
    config.write_text('{"pooling_mode_mean_tokens": false, "pooling_mode_lasttoken": true}')
    with pytest.raises(EncoderError, match="pooling_mode_lasttoken"):
        encoder_of(model).encode(["parse"])
    config.write_text('{"pooling_mode_mean_sqrt_len_tokens": true}')
    assert encoder_of(model).encode(["parse"]).any()


def test_the_digest_covers_weights_external_data_and_tokenizer(tmp_path: Path) -> None:
    model = make_model(tmp_path)
    digests = {encoder_of(model).digest, encoder_of(model, dimensions=72).digest}
    (tmp_path / "model.onnx.data").write_bytes(b"weights")
    digests.add(encoder_of(model).digest)
    tokenizer = json.loads((tmp_path / "tokenizer.json").read_text())
    tokenizer["truncation"]["max_length"] = 9
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer))
    digests.add(encoder_of(model).digest)
    assert len(digests) == 4


def test_the_digest_covers_nothing_that_only_begins_like_the_model(tmp_path: Path) -> None:
    model = make_model(tmp_path).rename(tmp_path / "[a]*.onnx")
    digest = encoder_of(model).digest
    (tmp_path / "[a]*.onnx.bak").write_bytes(b"older")
    (tmp_path / "[a]*.onnx.d").mkdir()
    (tmp_path / "[a]*.onnx~").symlink_to("nowhere")
    assert encoder_of(model).digest == digest
    (tmp_path / "[a]*.onnx_data_1").write_bytes(b"weights")
    encoder = encoder_of(model)
    (tmp_path / "[a]*.onnx_data_1").unlink()
    with pytest.raises(EncoderError, match="cannot be read"):
        _ = encoder.digest


@pytest.mark.parametrize("name", ["model.onnx", "model.onnx.data", "tokenizer.json", "tokenizer_config.json"])
def test_what_is_found_beside_a_model_is_a_file_there(tmp_path: Path, name: str) -> None:
    folder, outside = make_model(tmp_path / "model").parent, tmp_path / "outside"
    outside.write_text("{}")
    path = folder / name
    path.unlink(missing_ok=True)
    for target in ("/dev/zero", "nowhere", str(folder)):
        path.symlink_to(target)
        with pytest.raises(EncoderError, match=f"{name} is no regular file"):
            encoder_of(folder)
        path.unlink()
    os.mkfifo(path)
    with pytest.raises(EncoderError, match=f"{name} is no regular file"):
        encoder_of(folder)
    path.unlink()
    path.symlink_to(outside)
    with pytest.raises(EncoderError, match=f"{name} is a link that leads out of"):
        encoder_of(folder)


def test_a_snapshot_of_the_hub_s_cache_leads_to_its_blobs(tmp_path: Path) -> None:
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "0a1b"
    make_model(blobs)
    (snapshot / "onnx").mkdir(parents=True)
    (snapshot / "onnx" / "model.onnx").symlink_to("../../../blobs/model.onnx")
    (snapshot / "tokenizer.json").symlink_to("../../blobs/tokenizer.json")
    assert encoder_of(snapshot).encode(["parse"]).any()


@pytest.mark.parametrize("content", ['{"prompts": [1]}', '{"prompts": ' + "[" * 100_000, " " * (17 << 20)])
def test_a_configuration_that_says_nothing_is_named(tmp_path: Path, content: str) -> None:
    make_model(tmp_path)
    (tmp_path / "config_sentence_transformers.json").write_text(content)
    with pytest.raises(EncoderError, match=r"config_sentence_transformers\.json"):
        encoder_of(tmp_path)


def test_a_narrower_model_is_refused_with_both_numbers(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match=r"96.*256"):
        encoder_of(make_model(tmp_path), dimensions=256).encode(["parse"])


def test_missing_and_unreadable_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match=r"no model .*absent\.onnx \(.*holds model\.onnx"):
        encoder_of(tmp_path / "absent.onnx")
    with pytest.raises(EncoderError, match=r"no model .*model\.onnx \(.*get MiniLM"):
        encoder_of(tmp_path)
    model = make_model(tmp_path)
    with pytest.raises(EncoderError, match=r"no tokenizer .*other\.json"):
        encoder_of(model, tmp_path / "other.json")
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(EncoderError, match=r"no tokenizer .*tokenizer\.json"):
        encoder_of(model)
    (tmp_path / "tokenizer.model").write_bytes(b"pieces")
    with pytest.raises(EncoderError, match="not a SentencePiece model"):
        encoder_of(model).encode(["x"])
    (tmp_path / "tokenizer.bin").write_bytes(b"pieces")
    with pytest.raises(EncoderError, match="of a kind that cannot be read"):
        encoder_of(model, tmp_path / "tokenizer.bin")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(EncoderError, match=r"tokenizer .* cannot be read"):
        encoder_of(model).encode(["x"])
    model.write_bytes(b"not a model")
    make_model(tmp_path / "whole")
    with pytest.raises(EncoderError, match=r"model .* cannot be loaded"):
        encoder_of(model, tmp_path / "whole" / "tokenizer.json").encode(["x"])


def test_an_unknown_input_is_named(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match="input words"):
        encoder_of(make_model(tmp_path, input_name="words")).encode(["x"])


def test_a_tokenizer_of_another_model_fails_with_a_message(tmp_path: Path) -> None:
    model = make_model(tmp_path)
    tokenizer = json.loads((tmp_path / "tokenizer.json").read_text())
    tokenizer["model"]["vocab"]["outside"] = 999
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(EncoderError, match=r"cannot run 1 tokens"):
        encoder_of(model).encode(["outside"])


def test_a_tokenizer_that_panics_is_named(tmp_path: Path) -> None:
    model, tokenizer = make_model(tmp_path), tmp_path / "spiece.model"
    rules = b"\x1a\x0a\x12\x08" + b"\4\0\0\0aaaa"  # a charsmap whose trie leads out of itself
    tokenizer.write_bytes((Path(__file__).parent / "sentencepiece" / "unigram.model").read_bytes() + rules)
    with pytest.raises(EncoderError, match=r"tokenizer .*spiece\.model cannot read a text of 5 characters: Panic"):
        encoder_of(model, tokenizer).encode(["parse"])


def test_making_an_encoder_imports_no_runtime(tmp_path: Path) -> None:
    script = f"""
import sys
from pathlib import Path
from pipelines.embedding import make_encoder
from pipelines.settings import EmbedderSettings
for name, model in (("code", ""), ("vocab", ""), ("hash", ""), ("onnx", {str(make_model(tmp_path))!r})):
    make_encoder(EmbedderSettings(name, model), Path({str(DATA)!r})).digest
make_encoder(EmbedderSettings("vocab"), Path({str(DATA)!r})).encode_query("open file")
print([name for name in ("onnxruntime", "tokenizers", "scipy") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
