"""The symptoms page: one finding in full, what else was checked, and when it all was."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from hwtop.model.frame import Frame
from hwtop.model.symptom import Episode, Finding, Hypothesis
from hwtop.ui.app import HwtopApp
from hwtop.ui.input.keyboard import chosen, cleared, moved, scrolled
from hwtop.ui.input.mouse import selected
from hwtop.ui.pages.layout import arrange, picture
from hwtop.ui.panels.symptoms import view as symptom_view
from hwtop.ui.panels.symptoms.state import SymptomsState
from hwtop.ui.view import View
from tests import frames
from tests.parts import replace
from tests.ui.scrolling import scrollable
from tests.ui.test_app import FakeFeed, drive, screen_text, view_of

SIZES = [(80, 24), (120, 40), (200, 60)]
ASKED = (
    Hypothesis(hypothesis="Is it hung?", check="steps and stacks", result="last step 50 s ago", verdict="yes"),
    Hypothesis(hypothesis="Is the disk slow?", check="tasks stalled", result="1 % of the time", verdict="no"),
    Hypothesis(hypothesis="Is the network slow?", check="links", result="no interface tells", verdict="unknown"),
)


def sick() -> Frame:
    """Two findings, one of which has a whole playbook, and one that has cleared."""
    frame = frames.hang()
    hang, mount = frame.findings
    full = replace(
        hang,
        test="run it with world size 1",
        refuted_by="steps go on",
        escalate=("py-spy dump --pid 41057   # the whole stack",),
        log_line="rank 5: \x1b[31mwriting\x07 summary",
    )
    episodes = (
        Episode(symptom="straggler-rank", severity="warning", title="slow", seen_s=20, raised_s=30, cleared_s=60),
        Episode(symptom="hang", severity="critical", title=hang.title, seen_s=84, raised_s=99),
    )
    return replace(frame, findings=(full, mount), episodes=episodes, hypotheses=ASKED)


def view(frame: Frame, **how: object) -> View:
    return View(frame=frame, page="symptoms", **how)  # type: ignore[arg-type]


def screen(view: View, size: tuple[int, int]) -> str:
    lines = picture(view, *size)
    assert [line.width for line in lines] == [size[0]] * size[1]
    return "\n".join(line.text for line in lines)


def read_to_the_end(view: View, size: tuple[int, int]) -> str:
    """Everything that one sees on the way down."""
    seen = screen(view, size)
    for _ in range(scrollable(view, *size)):
        view = scrolled(view, 1, size)
        seen += "\n" + screen(view, size)
    return " ".join(seen.replace("│", " ").split())


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_all_of_the_finding_is_there_to_be_read(size: tuple[int, int]) -> None:
    frame = sick()
    seen = read_to_the_end(view(frame), size)
    finding = frame.findings[0]
    reported = (finding.title, *finding.evidence, *finding.next_steps, *finding.escalate, *finding.folded)
    for text in (*reported, "run it with world size 1", "steps go on", "confidence 97%", "stability"):
        assert " ".join(text.split())[:40] in seen, text
    for heading in (
        "Evidence",
        "What to do now",
        "Verify",
        "Disproved if",
        "If that is not enough",
        "Follows from it",
    ):
        assert heading in seen


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_suspects_and_timeline_are_there_at_every_size(size: tuple[int, int]) -> None:
    seen = read_to_the_end(view(sick()), size)
    assert "▲ yes Is it hung?" in seen
    assert "✔ no Is the disk slow?" in seen
    assert "? unknown Is the network slow?" in seen
    assert "straggler-rank" in seen
    assert "✔" in seen


def test_the_first_steps_are_in_sight_without_scrolling() -> None:
    for size in SIZES:
        flat = " ".join(screen(view(sick()), size).replace("│", " ").split())
        assert sick().findings[0].title in flat
        assert "1. " + sick().findings[0].next_steps[0][:30] in flat


def test_text_of_the_machine_is_shown_and_not_obeyed() -> None:
    seen = read_to_the_end(view(sick()), (80, 24))
    assert "\x1b" not in seen
    assert "␛[31mwriting␇ summary" in seen


def test_arrows_choose_the_finding_and_select_its_rank() -> None:
    frame = sick()
    mount = replace(frame.findings[1], ranks=(3,))
    frame = replace(frame, findings=(frame.findings[0], mount))
    start = view(frame, selected=5)
    down = moved(start, 0, 1, (120, 40))
    assert symptom_view.selected(down) == mount
    assert down.selected == 3
    assert symptom_view.selected(moved(down, 0, 1, (120, 40))) == mount
    assert symptom_view.selected(moved(down, 0, -1, (120, 40))) == frame.findings[0]
    gone = replace(down, frame=replace(frame, findings=frame.findings[:1]))
    assert symptom_view.selected(gone) == frame.findings[0]


def test_a_click_on_a_row_chooses_it() -> None:
    place = arrange(view(sick()), 120, 40)["symptom-list"]
    after = selected(view(sick()), "symptom-list", (5, 2), (place.width, place.height))
    assert after.state(SymptomsState).symptom == "filesystem-hang"
    assert selected(after, "symptom-list", (5, 3), (place.width, place.height)) == after


def test_a_click_on_a_card_of_the_overview_leads_to_its_finding() -> None:
    overview, size = View(frame=sick()), (120, 40)
    place = arrange(overview, *size)["findings"]
    rows = [line.text for line in picture(overview, *size)][place.y : place.y + place.height]
    title = next(at for at, row in enumerate(rows) if "/mnt/lustre/datasets has not answered" in row)
    after = selected(overview, "findings", (5, title), (place.width, place.height))
    assert (after.page, after.state(SymptomsState).symptom) == ("symptoms", "filesystem-hang")
    assert selected(overview, "findings", (5, 0), (place.width, place.height)) == overview


def test_enter_gives_it_the_page_and_esc_takes_it_back() -> None:
    size = (80, 24)
    alone = chosen(view(sick()), size)
    assert arrange(alone, *size).keys() == {"verdict", "footer", "symptom-page"}
    assert moved(alone, 0, 1, size).scroll == 1
    back = cleared(alone)
    assert not back.alone
    assert back.scroll == 0


def test_enter_tells_what_was_looked_at_where_the_answers_take_the_room() -> None:
    asked = tuple(replace(ASKED[1], hypothesis=f"Question {number}?") for number in range(12))
    calm, size = view(replace(frames.healthy(), hypotheses=asked)), (80, 24)
    assert "checked:" not in read_to_the_end(calm, size)
    assert read_to_the_end(chosen(calm, size), size).count("checked: tasks stalled") >= 12
    assert not cleared(chosen(calm, size)).alone


def test_enter_on_the_overview_leads_here_where_no_rank_is_chosen() -> None:
    overview = View(frame=sick())
    assert chosen(overview, (80, 24)).page == "symptoms"
    assert chosen(replace(overview, selected=2), (80, 24)).page == "stacks"
    assert chosen(View(frame=frames.healthy()), (80, 24)).page == "overview"


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_without_a_finding_it_says_what_was_checked(size: tuple[int, int]) -> None:
    asked = tuple(replace(each, verdict="no") for each in ASKED)
    calm = view(replace(frames.healthy(), hypotheses=asked, episodes=sick().episodes[:1]))
    seen = screen(calm, size)
    assert "✔ nothing proven in 2 min 14 s; here is what was checked" in seen
    assert "✔ 3 no" in seen
    assert "checked: tasks stalled" in seen
    assert "straggler-rank" in seen
    assert not set("✖") & set(seen)


def test_without_a_job_nothing_is_said_to_be_well() -> None:
    nothing = replace(frames.healthy(), derived=replace(frames.healthy().derived, job=None), hypotheses=())
    seen = screen(view(nothing), (80, 24))
    assert "no job is attached" in seen
    assert "✔" not in seen.splitlines()[3]


def test_the_timeline_tells_unproven_up_and_gone_apart() -> None:
    rows = screen(view(sick()), (120, 40)).splitlines()
    gone = next(row for row in rows if "straggler-rank" in row)
    assert gone.index("┅") < gone.index("▲") < gone.index("━") < gone.index("✔")
    up = next(row for row in rows if "▸ hang" in row and "┅" in row)
    assert up.index("✖") < up.index("━")
    assert "✔" not in up
    assert "seen " in up


def test_many_findings_scroll_with_the_cursor() -> None:
    frame = sick()
    many = tuple(replace(frame.findings[0], symptom=f"symptom-{number}") for number in range(30))
    far = view(replace(frame, findings=many), states={SymptomsState: SymptomsState("symptom-29")})
    seen = screen(far, (80, 24))
    assert "▸ ✖ CRITICAL  symptom-29" in seen
    assert "of 30" in seen


def test_y_copies_the_finding_as_text() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("0", "y")
        lines = app.clipboard.splitlines()
        assert lines[0] == "CRITICAL hang (confidence 97%, stability, rank 5, seen for 50 s)"
        assert lines[1] == sick().findings[0].title
        assert "Evidence:" in lines
        assert "1. " + sick().findings[0].next_steps[0] in lines
        assert any("clipboard:" in row for row in screen_text(app))
        assert view_of(app).page == "symptoms"

    drive(act, sick(), size=(80, 24))


def test_a_test_that_is_a_step_already_is_not_told_twice() -> None:
    finding: Finding = replace(sick().findings[0], test=sick().findings[0].next_steps[1])
    assert "Verify" not in [section.title for section in symptom_view.sections(finding)]
