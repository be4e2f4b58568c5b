"""The command line, end to end: on real data and real logs, with wrong input, interrupted."""

import json
import re
import signal
import subprocess
import sys
import time

import pandas as pd
import psutil
import pytest
import yaml
from made_logs import inspect_logs

import bayeval as bv
from bayeval.__main__ import main

COMMAND = [sys.executable, "-m", "bayeval"]


@pytest.fixture
def run(capsys):
    """Run the command line in this process: exit code, output, errors."""

    def run(*arguments):
        code = main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return code, out, err

    return run


@pytest.fixture(scope="module")
def aime(tmp_path_factory):
    path = tmp_path_factory.mktemp("aime") / "aime.csv"
    assert main(["data", "export", "aime_2025_ii", "--out", str(path)]) == 0
    return path


@pytest.fixture
def pair(tmp_path):
    """Three files of the same 40 questions: good, bad, and one nobody can tell from good."""
    for name, s in (("good", 7), ("bad", 4), ("same", 7)):
        rows = [f"{q},{(s + q) % 11 if q % 2 else s},10\n" for q in range(40)]
        (tmp_path / f"{name}.csv").write_text("question,successes,trials\n" + "".join(rows))
    return {name: tmp_path / f"{name}.csv" for name in ("good", "bad", "same")}


# -- report -------------------------------------------------------------------------------------


def test_report_on_real_data(run, aime, tmp_path):
    html, out_json = tmp_path / "r.html", tmp_path / "r.json"
    code, out, err = run("report", aime, "--pass-k", "1,4,16", "--html", html, "--json", out_json)
    assert code == 0
    r = bv.report(bv.datasets.load("aime_2025_ii"), pass_k=[1, 4, 16])
    data = json.loads(out_json.read_text("utf-8"))
    assert [row["model"] for row in data["board"]] == list(r.board.index)
    assert [row["score"] for row in data["board"]] == r.board["score"].tolist()
    n_settled = int(r.pairs["settled"].sum())
    assert f"Pairs settled at probability 0.95: {n_settled} of {len(r.pairs)}" in out
    for name in r.board.index:
        assert name in out
    assert " ".join(r.sentence.split()) in " ".join(out.split())
    assert "CSV table of counts" in err
    assert html.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.html", "r.json"]


def test_report_on_logs_of_inspect_shows_both_bounds(run):
    code, out, err = run("report", inspect_logs() / "eval")
    assert code == 0
    assert "mockllm/small" in out
    assert "Missing attempts" in out
    assert "91.6 %" in out
    assert "note: 4 attempts ended in an error: they are missing" in err
    missing = json.loads(run("report", inspect_logs() / "eval", "--json", "-")[1])
    failed = json.loads(run("report", inspect_logs() / "eval", "--json", "-", "--errors",
                            "failed")[1])
    for a, b in zip(missing["board"], failed["board"]):
        assert b["avg"] == pytest.approx(a["if_wrong"])
        assert a["errored"] == b["errored"] == 2


def test_report_with_a_rubric_a_prior_and_a_probability(run, tmp_path):
    path = tmp_path / "graded.csv"
    path.write_text("model,question,score\n" + "".join(
        f"{m},{q},{[0, 0.5, 1][(q + len(m)) % 3]}\n" for m in ("a", "bb") for q in range(9)))
    by_value = json.loads(run("report", path, "--json", "-")[1])
    assert by_value["weights"] == [0, 0.5, 1]
    code, text, _ = run("report", path, "--json", "-", "--weights", "0,0,1", "--prior", "uniform",
                        "--probability", "0.8")
    given = json.loads(text)
    assert (code, given["weights"], given["prior"], given["probability"]) == \
        (0, [0, 0, 1], "uniform", 0.8)
    o = bv.read(path, quiet=True)
    want = bv.leaderboard(o, weights=[0, 0, 1], probability=0.8)
    assert [row["low"] for row in given["board"]] == want["low"].tolist()


def test_options_of_the_readers_arrive(run, tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("who,what,grade\nA,1,0.2\nA,2,0.9\n")
    code, out, _ = run("report", path, "--column", "model=who", "--column", "question=what",
                       "--column", "outcome=grade", "--threshold", "0.5", "--json", "-")
    assert code == 0
    assert json.loads(out)["board"][0]["avg"] == 0.5


def test_errors_name_the_options_of_the_command_line(run, tmp_path):
    for text, option, given in [
            ("model,question,score,correct\nA,1,0.4,1\n", "--column outcome=NAME",
             ["--column", "outcome=correct"]),
            ("problem,gpt-4,gpt-4.1\na,1,0\n", "--repeats", ["--no-repeats"]),
            ("question,score\na,0.5\nb,0\n", "--threshold", ["--threshold", "0.5"]),
            ("question,score\na,full\nb,none\n", "categories", ["--categories", "none,full"])]:
        path = tmp_path / "a.csv"
        path.write_text(text)
        code, _, err = run("report", path)
        assert code == 1
        assert option in err
        assert run("report", path, *given)[0] == 0


# -- compare ------------------------------------------------------------------------------------


def test_compare_fails_only_if_the_new_model_is_worse(run, pair):
    code, out, _ = run("compare", pair["bad"], pair["good"], "--fail-if-worse", "0.95")
    assert code == 3
    assert "P(new is worse) = > 0.999 on these 40 questions" in out
    assert "Worse at 0.95" in out
    for new, old in (("good", "bad"), ("same", "good"), ("good", "same")):
        assert run("compare", pair[new], pair[old], "--fail-if-worse", "0.95")[0] == 0
    assert run("compare", pair["bad"], pair["good"])[0] == 0


def test_compare_decides_by_the_probabilities_of_the_package(run, pair):
    code, out, _ = run("compare", pair["bad"], pair["good"], "--json", "-")
    found = json.loads(out)
    sides = [bv.read(pair[name], quiet=True) for name in ("bad", "good")]
    o = bv.Outcomes.from_counts(*([[*side.successes, *other.successes] for side, other in [sides]]
                                  ), 10, models=["new", "old"])
    assert code == 0
    assert found["worse_these_questions"] == pytest.approx(
        bv.superiority(o, paired=False, prior="learned").loc["old", "new"])
    assert found["worse_new_questions"] == pytest.approx(bv.superiority(o).loc["old", "new"])
    level = (found["worse_new_questions"] + 1) / 2
    assert run("compare", pair["bad"], pair["good"], "--population", "--fail-if-worse",
               level)[0] == 0


def test_compare_uses_the_shared_questions_only(run, pair, tmp_path):
    part = tmp_path / "part.csv"
    part.write_text("".join(pair["bad"].read_text().splitlines(keepends=True)[:21]))
    code, out, err = run("compare", part, pair["good"], "--fail-if-worse", "0.95")
    assert code == 3
    assert "on these 20 questions" in out
    assert "20 questions stand on one side only" in err
    other = tmp_path / "other.csv"
    other.write_text("question,successes,trials\nz,1,2\n")
    assert run("compare", other, pair["good"])[0] == 1
    assert run("compare", inspect_logs() / "eval", pair["good"])[0] == 1


def test_the_workflow_of_the_chapter_runs_as_it_is_printed(pair, tmp_path, root):
    """Its commands, with the results of another project in the place of its evaluation."""
    text = (root / "chapters" / "15-your-own-results.md").read_text("utf-8")
    workflow = yaml.safe_load(re.search(r"```yaml\n(.*?)```", text, re.S)[1])
    runs = [step["run"] for step in workflow["jobs"]["evaluate"]["steps"] if "run" in step]
    [check] = [line for line in runs if line.startswith("bayeval")]
    [made] = [line for line in runs if line.startswith("inspect eval")]
    new = re.search(r"--log-dir (\S+)", made)[1]
    assert check.split()[2] == new
    command = [*COMMAND, *check.split()[1:]]
    for name in (new, check.split()[3]):
        (tmp_path / name).mkdir()
    for model, old, code in (("bad", "good", 3), ("good", "bad", 0), ("same", "good", 0)):
        (tmp_path / new / "a.csv").write_bytes(pair[model].read_bytes())
        (tmp_path / check.split()[3] / "a.csv").write_bytes(pair[old].read_bytes())
        assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == code


# -- plan, forecast, counts, data ---------------------------------------------------------------


def test_plan(run, pair):
    code, out, _ = run("plan", "--gap", "0.05", "--score", "0.6", "--questions", "30")
    want = bv.design.plan_trials([0.6] * 30, [0.6] * 30, gap=0.05, power=0.8)
    assert code == 0
    assert out.startswith(f"{want.n_trials} trials per question")
    code, out, _ = run("plan", pair["good"], "--width", "0.03")
    question = bv.posterior(bv.read(pair["good"], quiet=True), prior="learned").question_mean
    assert f"{bv.design.plan_width(question, 0.03)} trials per question" in out
    for wrong in (["plan"], ["plan", "--gap", "0.1", "--width", "0.1", "--questions", "3"],
                  ["plan", "--gap", "0.1"], ["plan", "--gap", "0.1", "--questions", "0"]):
        assert run(*wrong)[0] == 2
    assert run("plan", "--gap", "1e-9", "--questions", "3")[0] == 1


def test_forecast(run, pair):
    code, out, _ = run("forecast", pair["good"], "--k", "1,10,1000", "--json", "-")
    f = bv.forecast(bv.read(pair["good"], quiet=True), [1, 10, 1000])
    rows = json.loads(out)["forecasts"]
    assert code == 0
    assert [row["mean"] for row in rows] == pytest.approx(f.mean.tolist())
    assert [row["low"] for row in rows] == pytest.approx(f.interval(0.95).low.tolist())
    code, out, _ = run("forecast", pair["good"], "--k", "10", "--method", "mle")
    assert code == 0
    assert "Pass@10" in out
    code, _, err = run("forecast", pair["good"], "--k", "10", "--method", "tea-leaves")
    assert code == 1
    assert "method must be one of" in err


def test_counts_reduce_logs_and_keep_the_coverage(run, tmp_path):
    for name in ("c.csv", "c.parquet"):
        assert run("counts", inspect_logs() / "eval", "--out", tmp_path / name)[0] == 0
        a, b = (bv.read(p, quiet=True) for p in (inspect_logs() / "eval", tmp_path / name))
        assert (a.counts == b.counts).all()
        assert (a.planned == b.planned).all()
        assert (a.errored == b.errored).all()
        assert a.errored.any()
        assert (a.models, a.questions) == (b.models, b.questions)
        failed = bv.read(tmp_path / name, errors="failed", quiet=True)
        assert (failed.n_trials == a.n_trials + a.errored).all()
        assert (failed.successes == a.successes).all()
    assert run("counts", inspect_logs() / "eval", "--errors", "failed",
               "--out", tmp_path / "f.csv")[0] == 0
    assert (bv.read(tmp_path / "f.csv", quiet=True).counts == failed.counts).all()


def test_formulas_in_names_do_not_reach_a_spreadsheet(run, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('model,question,correct\n"=1+1",-1,1\n')
    assert run("counts", path, "--out", tmp_path / "b.csv")[0] == 0
    table = pd.read_csv(tmp_path / "b.csv", dtype=str)
    assert table["model"].tolist() == ["'=1+1"]
    assert table["question"].tolist() == ["-1"]


def test_data_lists_and_exports_what_the_package_holds(run, tmp_path):
    code, out, _ = run("data", "list")
    assert code == 0
    assert all(name in out for name in bv.datasets.names())
    for name in ("hmmt_feb_2025", "terminal_bench_trials"):
        for kind in ("csv", "parquet"):
            path = tmp_path / f"{name}.{kind}"
            assert run("data", "export", name, "-o", path)[0] == 0
            a, b = bv.datasets.load(name), bv.read(path, quiet=True)
            assert a.successes.sum() == b.successes.sum()
            assert a.n_trials.sum() == b.n_trials.sum()
    code, out, err = run("data", "export", "aime_2025")
    assert code == 0
    assert len(out.splitlines()) == len(bv.datasets.frame("aime_2025")) + 1
    assert "license" in err
    code, _, err = run("data", "export", "aime_2052", "--out", tmp_path / "x.csv")
    assert code == 1
    assert "did you mean 'aime_2025'" in err


# -- exit codes, errors, files ------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [
    ["report"], ["nonsense"], ["report", "x.csv", "--nonsense"], ["report", "x", "--prior", "flat"],
    ["report", "x", "--probability", "high"], ["report", "x", "--pass-k", "one"],
    ["report", "x", "--weights", "a,b"], ["report", "x", "--column", "who"],
    ["compare", "a"], ["compare", "a", "b", "--fail-if-worse", "95"], ["forecast", "x"],
    ["data", "export", "aime_2025", "--out", "x.xlsx"]])
def test_wrong_usage_exits_with_2_and_one_line(run, arguments):
    code, out, err = run(*arguments)
    assert code == 2
    assert out == ""
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("arguments", [
    ["report", "none.csv"], ["report", "BAD"], ["compare", "BAD", "BAD"], ["forecast", "BAD",
    "--k", "4"], ["plan", "BAD", "--gap", "0.1"], ["counts", "BAD", "--out", "x.csv"],
    ["report", "GOOD", "--probability", "2"], ["report", "GOOD", "--weights", "1,2,3"],
    ["report", "GOOD", "--html", "/nowhere/r.html"], ["report", "GOOD", "--pass-k", "0"]])
def test_bad_data_exits_with_1_and_one_line(run, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "BAD").write_bytes(b"\0\1\2")
    (tmp_path / "bad.csv").write_text("question,score\na,x\n")
    (tmp_path / "good.csv").write_text("question,correct\na,1\nb,0\n")
    names = {"BAD": "bad.csv", "GOOD": "good.csv"}
    code, _, err = run(*[names.get(a, a) for a in arguments])
    assert code == 1
    assert err.splitlines()[-1].startswith("bayeval: ")
    assert len(err.splitlines()[-1]) < 500
    assert sorted(p.name for p in tmp_path.iterdir()) == ["BAD", "bad.csv", "good.csv"]


def test_a_failed_report_leaves_the_old_file(run, tmp_path):
    (tmp_path / "good.csv").write_text("question,correct\na,1\nb,0\n")
    page = tmp_path / "r.html"
    page.write_text("old")
    assert run("report", tmp_path / "good.csv", "--html", page, "--json",
               tmp_path / "no" / "r.json")[0] == 1
    assert not list(tmp_path.glob(".r.html*"))
    assert run("report", tmp_path / "good.csv", "--html", page)[0] == 0
    assert page.read_text("utf-8").startswith("<!DOCTYPE")


def test_names_do_not_command_the_terminal(run, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"model": "\x1b[31m[red]x\x07", "question": "1", "correct": 1}))
    code, out, err = run("report", path)
    assert code == 0
    assert "\x1b" not in out + err
    assert "\x07" not in out + err
    assert "[red]x" in out


@pytest.mark.parametrize("arguments", [
    [], ["report"], ["compare"], ["plan"], ["forecast"], ["counts"], ["data"], ["data", "list"],
    ["data", "export"]])
def test_help_has_examples(run, arguments):
    code, out, _ = run(*arguments, "--help")
    assert code == 0
    assert "Usage: bayeval" in out
    assert not arguments or arguments == ["data"] or "Example" in out


def test_the_console_script_and_a_closed_pipe(aime):
    out = subprocess.run([*COMMAND, "data", "list"], capture_output=True, text=True, check=True)
    assert "aime_2025" in out.stdout
    process = subprocess.Popen([*COMMAND, "report", str(aime)], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    process.wait(timeout=120)
    assert "Traceback" not in err
    assert "BrokenPipe" not in err


def test_ctrl_c_is_clean(tmp_path):
    big = tmp_path / "big.jsonl"
    with big.open("w") as file:
        row = json.dumps({"model": "A", "question": "q", "correct": 1, "text": "x" * 400}) + "\n"
        for _ in range(300):
            file.write(row * 1000)
    # A shell starts what it runs in the background with interrupts ignored.
    process = subprocess.Popen([*COMMAND, "report", str(big), "--html", str(tmp_path / "r.html")],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    # Interrupted as soon as it reads.
    while process.poll() is None and str(big) not in [
            file.path for file in psutil.Process(process.pid).open_files()]:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert not (tmp_path / "r.html").exists()
    assert out == ""
