"""Reading logs: of the real tools, tidy and wide tables, tensors; dirty and hostile files."""

import bz2
import gzip
import io
import json
import pickle
import resource
import subprocess
import sys
import warnings
import zipfile

import dask
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_logs import BROKEN, EPOCHS, QUESTIONS, RATES, harness_logs, inspect_logs, right

import bayeval as bv
from bayeval.readers import ReadWarning, paper_tensor

QUESTION_IDS = [f"q{i}" for i in range(QUESTIONS)]


def quiet(paths, **options):
    return bv.read(paths, quiet=True, **options)


def write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


@pytest.fixture
def file(tmp_path):
    return lambda text, name="runs.csv": write(tmp_path, name, text)


# -- Inspect ---------------------------------------------------------------------------------


def expected(model, broken):
    return [[right(model, q, e) for e in range(1, EPOCHS + 1) if (q, e) not in broken]
            for q in QUESTION_IDS]


@pytest.mark.parametrize("kind", ["eval", "json"])
def test_inspect_logs_give_the_counts_that_were_planted(kind):
    with pytest.warns(ReadWarning, match="4 attempts ended in an error: they are missing"):
        o = bv.read(inspect_logs() / kind)
    # Logs of one second are in the order of their random names.
    assert set(o.models) == {f"mockllm/{name}" for name in RATES}
    assert o.questions == tuple(QUESTION_IDS)
    for model in RATES:
        row = o.models.index(f"mockllm/{model}")
        answers = expected(model, BROKEN)
        assert o.successes[row].tolist() == [sum(a) for a in answers]
        assert o.n_trials[row].tolist() == [len(a) for a in answers]
    assert (o.planned == EPOCHS).all()
    assert o.errored.sum() == len(RATES) * len(BROKEN)
    assert np.allclose(o.coverage, 1 - len(BROKEN) / (QUESTIONS * EPOCHS))


def test_errors_can_count_as_failures():
    missing, failed = (quiet(inspect_logs() / "eval", errors=e) for e in ("missing", "failed"))
    assert (failed.successes == missing.successes).all()
    assert (failed.n_trials == EPOCHS).all()
    assert (failed.n_trials - missing.n_trials == missing.errored).all()
    assert any("count as failures" in note for note in failed.notes)


def test_a_cancelled_run_is_reported_and_its_plan_kept():
    o = quiet(inspect_logs() / "cancelled")
    assert (o.planned == EPOCHS).all()
    assert 0 < o.n_trials.sum() < QUESTIONS
    assert any("'cancelled'" in note and f"of {QUESTIONS * EPOCHS} planned" in note
               for note in o.notes)


def test_graded_letters_become_a_rubric_and_no_answer_is_wrong():
    o = quiet(inspect_logs() / "letters")
    assert o.categories == ("0", "0.5", "1")
    assert o.values == (0.0, 0.5, 1.0)
    assert o.counts.sum(axis=(0, 1)).tolist() == [12, 6, 6]
    assert any("(N) count as wrong" in note for note in o.notes)
    whole = quiet(inspect_logs() / "letters", threshold=1)
    assert whole.is_binary
    assert whole.successes.sum() == 6


def test_several_metrics_need_a_choice():
    with pytest.raises(ValueError, match="2 metrics, 'match', 'letters': choose one"):
        bv.read(inspect_logs() / "two")
    o = quiet(inspect_logs() / "two", metric="match")
    assert o.successes[0].tolist() == [sum(a) for a in expected("small", set())]
    with pytest.raises(ValueError, match="'matched' is not one of"):
        bv.read(inspect_logs() / "two", metric="matched")


def test_several_logs_of_a_model_add_up_or_stand_apart():
    logs = sorted((inspect_logs() / "again").glob("*.eval"))
    o = quiet(logs)
    assert o.single
    assert (o.n_trials == 4).all()
    assert any("in more than one file" in note for note in o.notes)
    apart = quiet(logs, by="file")
    assert apart.models == tuple(log.stem for log in logs)
    assert (apart.n_trials == 2).all()


def test_a_copy_of_a_log_counts_once(tmp_path):
    log = next((inspect_logs() / "again").glob("*.eval"))
    copy = tmp_path / "copy.eval"
    copy.write_bytes(log.read_bytes())
    o = quiet([log, copy])
    assert (o.n_trials == 2).all()
    assert any("12 rows repeat a trial" in note for note in o.notes)
    assert (quiet([log, log]).n_trials == 2).all()


# -- lm-evaluation-harness --------------------------------------------------------------------


def samples(task):
    return sorted(harness_logs().glob(f"out/*/samples_{task}_*.jsonl"))


def test_harness_repeats_that_are_scored_one_by_one():
    two = [path for path in samples("each") if path.parent.name == "two"]
    o = quiet(two)
    assert o.models == ("two",)
    assert (o.n_trials == 4).all()
    assert o.successes[0].tolist() == [4 if i % 3 else 0 for i in range(QUESTIONS)]


def test_harness_repeats_of_which_only_the_first_is_scored_are_missing():
    o = quiet([path for path in samples("first") if path.parent.name == "two"])
    assert (o.n_trials == 1).all()
    assert (o.planned == 4).all()
    assert any("18 repeats were generated but not scored" in note for note in o.notes)


def test_harness_runs_of_several_models_with_a_chosen_metric():
    with pytest.raises(ValueError, match="2 metrics, 'acc', 'acc_norm': choose one"):
        bv.read(samples("pick"))
    o = quiet(samples("pick"), metric="acc")
    rows = {"one": np.zeros(QUESTIONS), "two": np.zeros(QUESTIONS)}
    for path in samples("pick"):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            rows[path.parent.name][row["doc_id"]] += row["acc"]
    for model, want in rows.items():
        assert o.select(models=model).successes[0].tolist() == want.tolist()
    assert o.select(models="one").n_trials.tolist() == [[2] * QUESTIONS]


def test_harness_copies_and_equal_answers_are_told_apart_by_the_model():
    o = quiet(samples("each"))
    assert o.models == ("one", "two")
    assert (o.n_trials == 4).all()
    assert any("read once" in note for note in o.notes)
    assert any("under another model: both count" in note for note in o.notes)


def test_harness_filters_need_a_choice(tmp_path):
    row = {"doc_id": 0, "resps": [["a"]], "filtered_resps": ["a"], "metrics": ["acc"], "acc": 1}
    lines = [row | {"filter": "strict"}, row | {"filter": "loose", "acc": 0}]
    path = write(tmp_path, "samples_t_2026-01-01T00-00-00.0.jsonl",
                 "\n".join(map(json.dumps, lines)))
    with pytest.raises(ValueError, match="2 filters, 'strict', 'loose': choose one"):
        bv.read(path)
    assert bv.read(path, filter="strict").successes.tolist() == [[1]]
    assert bv.read(path, filter="loose").successes.tolist() == [[0]]


def test_two_versions_of_a_benchmark_are_refused(tmp_path):
    for name, print_ in (("a", "x"), ("b", "y")):
        (tmp_path / name).mkdir()
        write(tmp_path / name, "samples_t_2026-01-01T00-00-00.0.jsonl", json.dumps(
            {"doc_id": 0, "resps": [["a"]], "filtered_resps": ["a"], "filter": "none",
             "metrics": ["acc"], "acc": 1.0, "doc_hash": print_}))
    with pytest.raises(ValueError, match=r"question 0 is not the same in .*a.samples_t"):
        bv.read(tmp_path)


# -- tables ------------------------------------------------------------------------------------


labels = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1,
                 max_size=8)


@st.composite
def runs(draw):
    """Ragged attempts of a few models at a few questions, some without a score."""
    models = draw(st.lists(labels, min_size=1, max_size=3, unique=True))
    questions = draw(st.lists(labels, min_size=1, max_size=4, unique=True))
    rows = [(m, q, t, draw(st.sampled_from([0, 1, 1, None])))
            for m in models for q in questions
            for t in range(draw(st.integers(0, 3)))]
    rows = rows or [(models[0], questions[0], 0, 1)]
    return pd.DataFrame(draw(st.permutations(rows)),
                        columns=["model", "question", "trial", "outcome"])


def tidy(frame):
    """The same counts by another road."""
    groups = frame.groupby(["model", "question"], sort=False)["outcome"]
    return {key: (int(g.sum()), int(g.notna().sum()), len(g)) for key, g in groups}


def as_cells(o):
    return {(row.model, row.question): (row.right, row.scored, row.planned)
            for row in o.to_frame().itertuples() if row.planned}


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(runs())
def test_tidy_tables_make_the_round_trip_in_every_format(tmp_path_factory, frame):
    folder = tmp_path_factory.mktemp("tidy")
    frame["outcome"] = frame["outcome"].astype("Int64")
    want = tidy(frame)
    frame.to_csv(folder / "a.csv", index=False)
    frame.to_csv(folder / "b.tsv", index=False, sep="\t", lineterminator="\r\n",
                 encoding="utf-8-sig")
    (folder / "c.csv.gz").write_bytes(gzip.compress((folder / "a.csv").read_bytes()))
    (folder / "c.csv.bz2").write_bytes(bz2.compress((folder / "a.csv").read_bytes()))
    frame.to_json(folder / "d.jsonl", orient="records", lines=True)
    frame.to_json(folder / "e.json", orient="records")
    frame.to_parquet(folder / "f.parquet")
    for path in sorted(folder.iterdir()):
        assert as_cells(quiet(path)) == want, path.name


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(runs())
def test_counts_and_splits_give_what_the_attempts_give(tmp_path_factory, frame):
    """A table of counts, the same rows in two files, and parts read apart and combined."""
    folder = tmp_path_factory.mktemp("counts")
    want = tidy(frame)
    cells = pd.DataFrame([(*key, *value) for key, value in want.items()],
                         columns=["model", "question", "successes", "trials", "planned"])
    cells.to_csv(folder / "counts.csv", index=False)
    assert as_cells(quiet(folder / "counts.csv")) == want
    frame["outcome"] = frame["outcome"].astype("Int64")
    halves = [frame.iloc[::2], frame.iloc[1::2]]
    paths = [folder / f"{i}.csv" for i, half in enumerate(halves) if len(half)]
    for path, half in zip(paths, halves):
        half.to_csv(path, index=False)
    assert as_cells(quiet(paths)) == want
    assert as_cells(bv.readers.combine([quiet(path) for path in paths])) == want


@pytest.mark.parametrize(("errors", "message"), [
    (2, "row 1 has 2 errors, but 1 planned attempts without a score"),
    (-1, "errors must be"), (0.5, "errors must be"), ("x", "errors must be")])
def test_errors_of_counts_must_fit(tmp_path, errors, message):
    path = tmp_path / "counts.csv"
    path.write_text(f"model,question,successes,trials,planned,errors\nA,1,2,3,4,{errors}\n")
    with pytest.raises(ValueError, match=message):
        bv.read(path)


def test_parts_are_reduced_on_other_workers_and_combined(tmp_path):
    frame = pd.DataFrame({"model": ["A", "B"] * 60, "question": [1, 2, 3] * 40, "correct": 1,
                          "trial": range(120)})
    for part in range(4):
        frame.iloc[part::4].to_json(tmp_path / f"{part}.jsonl", orient="records", lines=True)
    paths = sorted(tmp_path.glob("*.jsonl"))
    parts = dask.compute(*[dask.delayed(bv.read)(path, quiet=True) for path in paths],
                         scheduler="processes", num_workers=2)
    o = bv.readers.combine(parts)
    assert as_cells(o) == as_cells(quiet(paths))
    assert o.n_trials.sum() == 120


def test_wide_tables(file):
    o = quiet(file("problem,gpt,gpt.1,claude,claude.1\na,1,0,1,1\nb,0,,1,0\n"))
    assert o.models == ("gpt", "claude")
    assert o.successes.tolist() == [[1, 0], [2, 1]]
    assert o.n_trials.tolist() == [[2, 1], [2, 2]]
    assert any("'claude.1' were taken for repeats" in note for note in o.notes)
    o = quiet(file("problem,gpt,claude\na,1,0\na,1,1\nb,0,1\nb,1,1\n"))
    assert o.successes.tolist() == [[2, 1], [1, 2]]
    assert any("more than one row" in note for note in o.notes)
    o = quiet(file("p,A,A,B,B\nx,1,0,1,1\n"))
    assert o.successes.tolist() == [[1], [2]]


def test_a_wide_table_that_could_be_two_things_is_refused(file):
    path = file("problem,gpt-4,gpt-4.1\na,1,0\n")
    with pytest.raises(ValueError, match=r"'gpt-4.1' could be a repeat of 'gpt-4' or a model"):
        bv.read(path)
    assert bv.read(path, repeats=False).models == ("gpt-4", "gpt-4.1")
    path = file("problem,1,2,3\na,1,0,1\n")
    with pytest.raises(ValueError, match="its columns are numbered"):
        bv.read(path)
    assert bv.read(path, repeats=True).n_trials.tolist() == [[3]]
    assert bv.read(path, repeats=False).models == ("1", "2", "3")


def test_roles_of_columns_are_asked_for_when_two_could_be_meant(file):
    path = file("model,question,score,correct\nA,1,0,1\n")
    with pytest.raises(ValueError, match="'score' and 'correct' could each be the outcome"):
        bv.read(path)
    assert bv.read(path, outcome="correct").successes.tolist() == [[1]]
    with pytest.raises(ValueError, match="outcome='grade_of_it' is no column"):
        bv.read(path, outcome="grade_of_it")
    with pytest.raises(ValueError, match=r"outcomes .* and counts"):
        bv.read(file("model,question,score,successes,trials\nA,1,0,1,2\n"))


def test_the_cases_of_public_reports(file):
    """Errored epochs, dropped slots, unequal n, and problems in the place of samples."""
    rows = "".join(f"t,{i},{x}\n" for i, x in enumerate(["", "", 0, 0]))
    o = quiet(file(f"question,trial,correct\n{rows}"))
    assert o.n_trials.tolist() == [[2]]
    with pytest.warns(bv.UndefinedWarning):
        assert np.isnan(bv.pass_at_k(o, 3))
    assert bv.posterior(o).pass_at_k(3).mean == pytest.approx(0.5)
    o = quiet(file("question,successes,trials,planned\nt,1,1,4\n"))
    assert o.coverage == pytest.approx(0.25)
    assert bv.avg(o.missing_as("wrong")) == pytest.approx(0.25)
    o = quiet(file("question,successes,trials\na,4,4\nb,0,1\n"))
    assert bv.avg(o) == pytest.approx(0.5)
    assert bv.posterior(o).mean == pytest.approx(7 / 12)
    rows = "".join(f"{i},{int(i < 50)}\n" for i in range(164))
    o = quiet(file(f"question,correct\n{rows}"))
    assert (o.n_questions, o.n_trials.max()) == (164, 1)
    rows = "".join(f"{i},{int(i < 108) if i < 148 else ''},{'' if i < 148 else 'timeout'}\n"
                   for i in range(172))
    path = file(f"question,correct,error\n{rows}")
    assert bv.avg(quiet(path, errors="failed")) == pytest.approx(27 / 43)
    o = quiet(path)
    assert o.successes.sum() / o.n_trials.sum() == pytest.approx(27 / 37)
    assert bv.avg(o.missing_as("right")) == pytest.approx(0.7674418604651163)


# -- dirty input is reported --------------------------------------------------------------------


def test_repeated_rows_count_once_and_conflicts_are_refused(file):
    o = quiet(file("model,question,trial,correct\nA,1,1,1\nA,1,1,1\nA,1,2,0\n"))
    assert o.n_trials.tolist() == [[2]]
    assert any("1 rows repeat a trial" in note for note in o.notes)
    with pytest.raises(ValueError, match=r"stand twice with different scores.*question '1'"):
        bv.read(file("model,question,trial,correct\nA,1,1,1\nA,1,1,0\n"))
    o = quiet(file("model,question,trial,correct,error\nA,1,1,,boom\nA,1,1,1,\n"))
    assert (o.successes.tolist(), o.planned.tolist()) == ([[1]], [[1]])
    with pytest.raises(ValueError, match="more than one row of counts"):
        bv.read(file("model,question,successes,trials\nA,1,1,2\nA,1,1,2\n"))


def test_scores_that_are_not_0_and_1(file):
    o = quiet(file("question,score\na,0\na,0.25\nb,1\n"))
    assert o.categories == ("0", "0.25", "1")
    assert any("not 0 and 1" in note for note in o.notes)
    with pytest.raises(ValueError, match=r"take the values 0, 0\.5.*threshold"):
        bv.read(file("question,score\na,0\na,0.5\n"))
    with pytest.raises(ValueError, match="threshold"):
        bv.read(file("question,score\n" + "".join(f"a,{i / 40}\n" for i in range(40))))
    o = bv.read(file("question,score\n" + "".join(f"a,{i / 40}\n" for i in range(40))),
                threshold=0.5)
    assert o.successes.tolist() == [[20]]
    with pytest.raises(ValueError, match="'maybe' are neither numbers nor words"):
        bv.read(file("question,outcome\na,maybe\nb,correct\n"))
    o = bv.read(file("question,outcome\na,maybe\nb,sure\n"), categories=["never", "maybe", "sure"])
    assert o.counts.tolist() == [[[0, 1, 0], [0, 0, 1]]]
    assert bv.read(file("question,outcome\na,PASS\nb,failed\n")).successes.tolist() == [[1, 0]]
    with pytest.raises(ValueError, match="infinite"):
        bv.read(file("question,score\na,inf\n"))


def test_differing_questions_are_reported_or_left_out(file):
    path = file("model,question,correct\nA,1,1\nA,2,1\nB,2,0\n")
    with pytest.warns(ReadWarning, match="'B' lacks 1 of 2, and 1 are shared by all"):
        o = bv.read(path)
    assert o.n_trials.tolist() == [[1, 1], [0, 1]]
    shared = quiet(path, questions="shared")
    assert shared.questions == ("2",)
    assert any("1 of 2 questions were not asked of all" in note for note in shared.notes)
    with pytest.raises(ValueError, match="no question was asked of all"):
        bv.read(file("model,question,correct\nA,1,1\nB,2,0\n"), questions="shared")


def test_missing_labels_and_shapes_are_refused(file):
    for text, words in [("model,question,correct\nA,,1\n", "a row has no question"),
                        ("model,question,correct\n,1,1\n", "a row has no model"),
                        ("model,question,correct\nA,1\n", "Expected 3 columns, got 2"),
                        ("model,question,correct\n", "no rows"),
                        ("model,correct\nA,1\n", "names the question"),
                        ("model,question,answer\nA,1,x\n", "holds the score"),
                        ("question,successes,trials\na,3,2\n", "3 successes in 2 trials"),
                        ("question,successes,trials\na,0.5,2\n", "whole numbers")]:
        with pytest.raises(ValueError, match=words):
            bv.read(file(text))


# -- hostile files ------------------------------------------------------------------------------


def test_strange_labels_are_kept_as_they_are(file):
    names = ["=cmd|' /C calc'!A0", "<script>alert(1)</script>", "模型 β", "a\u202eb", "001"]
    text = "model,question,correct\r\n" + "".join(
        '"' + name.replace('"', '""') + '",1,1\r\n' for name in names)
    assert bv.read(file("\ufeff" + text)).models == tuple(names)


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.json", "x.eval", "x.npz", "x.parquet",
                                  "x.csv.gz", "x.bin"])
def test_binary_truncated_and_empty_files_give_one_clear_error(tmp_path, name):
    path = tmp_path / name
    for content in (b"", b"PK\x03\x04", bytes(range(256)) * 40, b"PAR1", b"\xff\xfe{", b"\x1f\x8b",
                    b"[" * 100_000, b'{"a":' * 100_000):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=name) as problem:
            bv.read(path)
        assert "\n" not in str(problem.value)


def test_truncated_logs_of_every_kind_are_refused(tmp_path):
    frame = pd.DataFrame({"model": "A", "question": range(400), "correct": 1})
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_json(tmp_path / "b.jsonl", orient="records", lines=True)
    (tmp_path / "c.csv.gz").write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    np.savez(tmp_path / "d.npz", R=np.ones((3, 50, 40), dtype=np.int8))
    log = next((inspect_logs() / "eval").glob("*.eval"))
    (tmp_path / "e.eval").write_bytes(log.read_bytes())
    log = next((inspect_logs() / "json").glob("*.json"))
    (tmp_path / "f.json").write_bytes(log.read_bytes())
    for path in sorted(tmp_path.iterdir()):
        whole = path.read_bytes()
        quiet(path)
        path.write_bytes(whole[:len(whole) * 3 // 5])
        with pytest.raises(ValueError, match=path.name):
            bv.read(path)


def test_a_bomb_in_an_eval_file_is_not_unpacked(tmp_path):
    path = tmp_path / "bomb.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", b" " * (1 << 25))
    with pytest.raises(ValueError, match=r"'header.json' unpacks to 33554432 bytes"):
        bv.read(path)
    log = next((inspect_logs() / "eval").glob("*.eval"))
    with zipfile.ZipFile(log) as good, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in good.infolist():
            if entry.filename != "summaries.json" and entry.compress_type in (0, 8):
                archive.writestr(entry.filename, good.read(entry))
        archive.writestr("summaries.json", b"[" + b" " * (1 << 25) + b"]")
    with pytest.raises(ValueError, match=r"'summaries.json' unpacks"):
        bv.read(path)


def test_a_packed_bomb_of_text_needs_no_memory(tmp_path):
    """A quarter of a gigabyte in one line, packed to a megabyte, is refused."""
    path = tmp_path / "bomb.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(256):
            file.write(b" " * (1 << 20))
    code = ("import sys, bayeval as bv\ntry:\n    bv.read(sys.argv[1])\n"
            "except ValueError as e:\n    print(e)")
    run = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True,
                         check=True, preexec_fn=lambda: resource.setrlimit(
                             resource.RLIMIT_AS, (2 << 30, 2 << 30)))
    assert "longer than" in run.stdout


class Payload:
    def __reduce__(self):
        return (print, ("this must never run",))


def test_pickles_in_tensors_are_never_opened(tmp_path, capsys):
    path = tmp_path / "R.npz"
    np.savez(path, R=np.array([Payload()], dtype=object))
    with pytest.raises(ValueError, match="pickled objects, which are never opened"):
        bv.read(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("R.npy", pickle.dumps(Payload()))
    with pytest.raises(ValueError, match=r"R\.npz"):
        bv.read(path)
    assert "never run" not in capsys.readouterr().out


# -- tensors -----------------------------------------------------------------------------------


def test_tensors(tmp_path):
    R = np.random.default_rng(1).integers(0, 2, (3, 5, 8)).astype(np.int8)
    np.savez(tmp_path / "R.npz", R=R)
    o = bv.read(tmp_path / "R.npz")
    assert (o.successes == R.sum(axis=2)).all()
    np.savez_compressed(tmp_path / "two.npz", a=R, b=R[:, :2] * 0.5)
    with pytest.raises(ValueError, match=r"2 arrays, 'a' \(3, 5, 8\), 'b'"):
        bv.read(tmp_path / "two.npz")
    assert (bv.read(tmp_path / "two.npz", metric="a").successes == R.sum(axis=2)).all()
    with pytest.raises(ValueError, match=r"whole category codes; found 0\.5"):
        bv.read(tmp_path / "two.npz", metric="b")
    np.savez(tmp_path / "flat.npz", R=R[0, 0])
    with pytest.raises(ValueError, match=r"shape \(8,\)"):
        bv.read(tmp_path / "flat.npz")
    missing = np.where(R[0] == 1, 1.0, np.nan)
    np.savez(tmp_path / "one.npz", R=missing)
    o = quiet(tmp_path / "one.npz")
    assert o.models == ("one",)
    assert o.planned.tolist() == [[8] * 5]
    assert (o.n_trials == R[0].sum(axis=1)).all()


PAPER_PARTS = ("aime24", "aime25", "hmmt_feb_2025", "brumo_2025")


def paper_arrays(**changed):
    rng = np.random.default_rng(2)
    arrays = {name: rng.integers(0, 2, (4, 3, 6)).astype(np.int8) for name in PAPER_PARTS}
    arrays["combined"] = np.concatenate(list(arrays.values()), axis=1)
    return {name: a for name, a in (arrays | changed).items() if a is not None}


def test_the_tensor_of_the_paper(tmp_path, monkeypatch):
    monkeypatch.delenv("BAYEVAL_PAPER_NPZ", raising=False)
    assert paper_tensor() is None
    path, arrays = tmp_path / "paper.npz", paper_arrays()
    for save in (np.savez, np.savez_compressed):
        save(path, **arrays, extra=np.zeros((1, 1)))
        monkeypatch.setenv("BAYEVAL_PAPER_NPZ", str(path))
        for name, expected in arrays.items():
            R = paper_tensor(name)
            assert R.dtype == np.int8
            np.testing.assert_array_equal(R, expected)
    np.savez(path, **{name: a.astype(float) for name, a in arrays.items()})
    np.testing.assert_array_equal(paper_tensor(), arrays["combined"])
    with pytest.raises(ValueError, match="key must be one of 'aime24'"):
        paper_tensor("aime26")
    with pytest.raises(ValueError, match="no such file"):
        paper_tensor(path=tmp_path / "none.npz")


@pytest.mark.parametrize(("changed", "message"), [
    ({"combined": None}, "lacks the arrays combined; it has aime24"),
    ({"aime24": None, "AIME24": np.zeros((4, 3, 6), np.int8)}, "lacks the arrays aime24"),
    ({"combined": np.zeros((4, 12, 5), np.int8)}, r"same L and N; .*combined \(4, 12, 5\)"),
    ({"aime25": np.zeros((5, 3, 6), np.int8)}, r"same L and N; .*aime25 \(5, 3, 6\)"),
    ({"aime25": np.zeros((3, 6), np.int8)}, r"aime25 \(3, 6\)"),
    ({"aime25": np.zeros(6, np.int8)}, r"'aime25' must hold outcomes, .* shape \(6,\)"),
    ({"aime25": np.zeros((4, 0, 6), np.int8)}, r"shape \(4, 0, 6\)"),
    ({"aime25": np.full((4, 3, 6), 2, np.int8)}, "must hold 0 and 1.* found 2 in aime25"),
    ({"brumo_2025": np.full((4, 3, 6), -1, np.int8)}, "found -1 in brumo_2025"),
    ({"combined": np.full((4, 12, 6), 0.5)}, r"found 0\.5 in combined"),
    ({"combined": np.full((4, 12, 6), np.nan)}, "found nan in combined"),
    ({"combined": np.full((4, 12, 6), "1")}, "of type <U1"),
    ({"combined": np.full((4, 12, 6), 1j)}, "of type complex128"),
    ({"combined": np.zeros((4, 12, 6), [("a", "i1")])}, "must hold outcomes"),
])
def test_a_tensor_of_another_format_is_refused(tmp_path, changed, message):
    path = tmp_path / "paper.npz"
    np.savez(path, **paper_arrays(**changed))
    with pytest.raises(ValueError, match=rf"paper\.npz: .*{message}"):
        paper_tensor("hmmt_feb_2025", path=path)


class Executed:
    """Leaves a file behind if it is ever unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


@pytest.mark.parametrize("where", ["array", "structured", "bare pickle", "entry"])
def test_nothing_in_a_tensor_is_executed(tmp_path, where):
    path, trap = tmp_path / "paper.npz", Executed(str(tmp_path / "executed"))
    if where == "array":
        np.savez(path, **paper_arrays(aime24=np.array([[[trap]]], dtype=object)))
    elif where == "structured":
        np.savez(path, **paper_arrays(aime24=np.array([[(trap,)]], dtype=[("a", "O")])))
    elif where == "bare pickle":
        path.write_bytes(pickle.dumps(trap))
    else:
        np.savez(path, **paper_arrays())
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("more.npy", pickle.dumps(trap))
    for attempt in (lambda: paper_tensor(path=path), lambda: bv.read(path)):
        with pytest.raises(ValueError, match=r"paper\.npz: "):
            attempt()
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("header", [
    "((((", '"""', "[" * 5000, "-" * 9000 + "1", "{[]: 1}", "{'descr': '|i1', 1: 2, 'shape': 3}",
    "{'descr': '|i1', 'fortran_order': False, 'shape': (True, 2, 3)}",
    "{'descr': '|i1', 'fortran_order': False, 'shape': (-1, 2, 3)}",
    "{'descr': '|i1', 'fortran_order': False, 'shape': (10000, 1000, 100000)}",
    "{'descr': 'banana', 'fortran_order': False, 'shape': (1, 2, 3)}",
    "open('executed', 'w')", "\0",
])
def test_forged_headers_are_refused(tmp_path, monkeypatch, header):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "paper.npz"
    np.savez(path, **paper_arrays())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("forged.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little")
                         + header.encode() + b"\1" * 6)
    with pytest.raises(ValueError, match=r"paper\.npz: "):
        paper_tensor(path=path)
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_damaged_tensors_are_refused_or_read_right(tmp_path, save):
    path, arrays = tmp_path / "paper.npz", paper_arrays()
    save(path, **arrays)
    whole = path.read_bytes()
    for end in range(0, len(whole), 7):
        path.write_bytes(whole[:end])
        with pytest.raises(ValueError, match=r"paper\.npz: "):
            paper_tensor(path=path)
    rng = np.random.default_rng(3)
    for _ in range(1000):
        damaged = bytearray(whole)
        for i in rng.integers(len(whole), size=rng.integers(1, 4)):
            damaged[i] = rng.integers(256)
        path.write_bytes(bytes(damaged))
        try:
            R = paper_tensor(path=path)
        except ValueError:
            continue
        np.testing.assert_array_equal(R, arrays["combined"])


# -- paths, and the streams ---------------------------------------------------------------------


def test_paths(tmp_path):
    for wrong in ("nothing.csv", "*.nothing", tmp_path, [], None, 3):
        with pytest.raises(ValueError, match=r"nothing|no logs|at least one|paths"):
            bv.read(wrong)
    path = write(tmp_path, "a.csv", "model,question,trial,correct\nA,1,1,1\n")
    other = write(tmp_path, "b.csv", "model,question,trial,correct\nB,1,1,0\n")
    for paths in ([path, other], tmp_path, str(tmp_path / "*.csv")):
        assert bv.read(paths).models == ("A", "B")
    write(tmp_path, "c.csv", path.read_text())
    with pytest.raises(ValueError, match="same contents"):
        bv.read(tmp_path)
    write(tmp_path, "odd [1].csv", path.read_text())
    assert bv.read(tmp_path / "odd [1].csv").models == ("A",)


def test_blocks_join_and_progress_reaches_the_end(tmp_path):
    n = 100_000
    frame = pd.DataFrame({"model": "A", "question": np.arange(n) % 7, "trial": np.arange(n),
                          "correct": np.arange(n) % 2})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_json(tmp_path / "b.jsonl", orient="records", lines=True)
    frame.to_parquet(tmp_path / "c.parquet")
    for path in sorted(tmp_path.iterdir()):
        steps = []
        o = bv.read(path, progress=lambda *step, steps=steps: steps.append(step))
        assert o.n_trials.sum() == n
        assert o.successes.sum() == n // 2
        assert steps[-1][1] == steps[-1][2] > 0


def test_the_result_is_outcomes_and_says_what_was_read(file):
    path = file("model,question,correct,error\nA,1,1,\nA,1,,boom\n")
    with pytest.warns(ReadWarning, match="1 attempts ended in an error"):
        o = bv.read(path)
    assert repr(o).startswith("Outcomes(1 model, 1 question")
    assert "model from 'model'" in o.account
    assert "note: 1 attempts ended in an error" in o.account
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bv.read(path, quiet=True)


def test_nested_and_mixed_json(tmp_path):
    rows = [{"model": "A", "question": 1, "correct": True, "meta": {"x": [1]}},
            {"model": "A", "question": "2", "correct": 0, "meta": None},
            {"model": "A", "question": 3, "correct": float("nan")}]
    path = write(tmp_path, "a.jsonl", "\n\n".join(map(json.dumps, rows)))
    o = quiet(path)
    assert o.n_trials.tolist() == [[1, 1, 0]]
    path = write(tmp_path, "b.jsonl", json.dumps({"question": 1, "correct": {"a": 1}}))
    with pytest.raises(ValueError, match=r"b\.jsonl"):
        bv.read(path)


def test_parquet_with_dictionaries_and_decimals(tmp_path):
    table = pa.table({"model": pa.array(["A", "B"] * 3).dictionary_encode(),
                      "question": pa.array([1, 1, 2, 2, 3, 3], pa.int8()),
                      "correct": pa.array([True, None, False, True, True, True]),
                      "tokens": pa.array([[1]] * 6)})
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    (tmp_path / "a.parquet").write_bytes(buffer.getvalue())
    o = quiet(tmp_path / "a.parquet")
    assert o.successes.tolist() == [[1, 0, 1], [0, 1, 1]]
    assert o.n_trials.tolist() == [[1, 1, 1], [0, 1, 1]]
