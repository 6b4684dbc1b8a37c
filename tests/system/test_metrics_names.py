"""docs/grafana.json and docs/alerts.yaml name metrics and labels that /metrics exports."""
import json
import re

import pytest
from support import SOURCE, TOWER, daemon
from test_web import http, listening

DASHBOARD = json.loads((SOURCE / "docs" / "grafana.json").read_text())
ALERTS = (SOURCE / "docs" / "alerts.yaml").read_text()
EXPRESSIONS = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]] + \
    re.findall(r"^\s+expr: (.*)$", ALERTS, re.M)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """{metric: {label, …}} of a daemon with a world and a store."""
    folder = tmp_path_factory.mktemp("data")
    with daemon("--scene", TOWER, "--data", str(folder / "d"), "--admin", "127.0.0.1:0", "--log", "info") as server:
        text = http(listening(server, "metrics"), "/metrics")[2].decode()
    found = {}
    for name, labels in re.findall(r"^(cairn_\w+)(?:\{([^}]*)\})?", text, re.M):
        found.setdefault(name, set()).update(re.findall(r"(\w+)=", labels))
    return found


def test_there_is_a_panel_for_each_of_the_parts():
    titles = " ".join(panel["title"] for panel in DASHBOARD["panels"])
    for part in ("tick", "Bodies", "Sessions", "Frames", "Accuracy", "Store", "Memory"):
        assert part in titles
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_metric_and_label_of_an_expression_is_exported(exported, expression):
    names = re.findall(r"\bcairn_\w+", expression)
    assert names or expression.startswith("up{")
    for name in names:
        assert name in exported, name
    legends = set(re.findall(r'(\w+)=~?"', expression)) - {"job"}
    for label in legends:
        assert any(label in exported[name] for name in names), label


def test_the_legends_name_labels(exported):
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
                assert any(label in exported[name] for name in re.findall(r"\bcairn_\w+", target["expr"])), target


def test_the_alerts_are_rules():
    assert len(re.findall(r"^\s+- alert: Cairn\w+$", ALERTS, re.M)) == len(re.findall(r"^\s+expr:", ALERTS, re.M)) >= 5
