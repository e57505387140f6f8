"""What sm89.ser says of decisions, against plain computations on the records."""
import collections
import unittest
from unittest import mock

from sm89 import ser
from ser_records import REASONS, Folder, csv_of, record, some_records


def load(case, records, **selection):
    return ser.load(Folder(case).file("t.csv", csv_of(records)), **selection)


def threads(records, **wanted):
    return sum(item["threads"] for item in records if all(item[name] == value for name, value in wanted.items()))


class CycleGraph(unittest.TestCase):
    def test_nodes_and_edges_are_the_records_of_the_window(self):
        records = some_records(3000, seed=11)
        trace = load(self, records)
        for cycle, window, sm in ((1100, 1, 0), (1200, 20, 1), (1000, 500, 2)):
            part = [item for item in records if item["sm"] == sm and cycle <= item["cycle"] < cycle + window]
            graph = trace.cycle_graph(cycle, window, sm)
            nodes, edges = set(), collections.defaultdict(list)
            for item in part:
                warp, unit = ("warp", item["warp"]), ("unit", item["target_scheduler"], item["unit"])
                nodes |= {warp, unit, ("warp", item["joins_warp"])}
                edges[warp, unit, (item["reason"], bool(item["issued"]))].append(item)
            self.assertGreater(len(part), 0)
            self.assertEqual(set(graph.nodes), nodes)
            self.assertEqual(set(graph.edges(keys=True)), set(edges))
            self.assertEqual({key: graph.graph[key] for key in ("sm", "cycle", "window")},
                             {"sm": sm, "cycle": cycle, "window": window})
            self.assertEqual(graph.graph["launches"], sorted({item["launch"] for item in part}))
            for (begin, end, key), items in edges.items():
                edge, lanes = graph.edges[begin, end, key], 0
                for item in items:
                    lanes |= item["lanes"]
                self.assertEqual((edge["reason"], edge["issued"]), key)
                self.assertEqual(edge["decisions"], len(items))
                self.assertEqual(edge["threads"], threads(items))
                self.assertEqual(edge["lanes"], lanes)
                self.assertEqual(edge["pcs"], sorted({item["pc"] for item in items}))
                self.assertEqual(edge["joins"], collections.Counter(
                    item["joins_warp"] for item in items if item["joins_warp"] != item["warp"]))
                self.assertEqual(graph.nodes[begin]["scheduler"], begin[1] % 4)
                self.assertEqual(graph.nodes[end]["scheduler"], end[1])

    def test_a_host_that_moves_nothing_itself_is_a_node_of_the_sub_core_it_issues_in(self):
        graph = load(self, [record(7, 5, 3, "BRANCH_DIV", target=2, joins=6)]).cycle_graph(7)
        self.assertEqual(graph.nodes["warp", 6], {"scheduler": 2})
        self.assertEqual(graph.nodes["warp", 5], {"scheduler": 1})
        self.assertEqual(list(graph.edges), [(("warp", 5), ("unit", 2, "SP"), ("BRANCH_DIV", True))])

    def test_busiest_window_is_the_one_a_search_finds(self):
        records = some_records(800, seed=12)
        trace = load(self, records)
        for window in (1, 7, 100, 10_000):
            sums = {(item["sm"], item["cycle"]): sum(other["threads"] for other in records if other["sm"] == item["sm"] and
                    item["cycle"] <= other["cycle"] < item["cycle"] + window and other["issued"]) for item in records}
            best = max(sums.values())
            self.assertEqual(trace.busiest(window), min(key for key, value in sums.items() if value == best))
            graph = trace.cycle_graph(window=window)
            self.assertEqual((graph.graph["sm"], graph.graph["cycle"]), trace.busiest(window))
            self.assertEqual(sum(edge["threads"] for _, _, edge in graph.edges(data=True) if edge["issued"]), best)

    def test_refused_decisions_do_not_make_a_cycle_busy(self):
        refused = [record(10, warp, 0xFFFFFFFF, "MEMORY_STALL", "MEM", target=1, issued=0) for warp in range(4)]
        self.assertEqual(load(self, refused + [record(20, 1, 0xF)]).busiest(), (0, 20))
        self.assertEqual(load(self, refused + [record(20, 1, 0xF, "MEMORY_STALL", "MEM", issued=0)]).busiest(), (0, 10))

    def test_refuses_what_makes_no_sense(self):
        trace = load(self, [record(7, 5, 3)])
        with self.assertRaisesRegex(ser.SerError, "window = '0', expected 1 or more"):
            trace.cycle_graph(7, 0)
        with self.assertRaises(ser.SerEmptyError):
            trace.cycle_graph(sm=3)


class Sums(unittest.TestCase):
    def setUp(self):
        self.records = some_records(5000, seed=13)
        self.moved = [item for item in self.records if item["issued"]]
        self.refused = [item for item in self.records if not item["issued"]]
        self.trace = load(self, self.records)

    def check_count(self, count, records):
        moved = [item for item in records if item["issued"]]
        self.assertEqual((count.decisions, count.refused_decisions, count.moved_threads, count.threads),
                         (len(records), len(records) - len(moved), threads(moved), threads(records)))

    def test_summary_is_the_sum_of_the_records(self):
        for source in ("scheduler", "warp"):
            summary = self.trace.summary(source)
            self.check_count(summary, self.records)
            self.assertEqual((summary.first_cycle, summary.last_cycle), (self.records[0]["cycle"], self.records[-1]["cycle"]))
            self.assertEqual((summary.sms, summary.launches), ([0, 1, 2], [0, 1]))
            flows = collections.defaultdict(list)
            for item in self.records:
                warp = item["warp"] if source == "warp" else None
                flows[item["source_scheduler"], warp, item["reason"], item["unit"], item["target_scheduler"]].append(item)
            self.assertEqual(set(summary.flows), set(flows))
            for flow, items in flows.items():
                self.check_count(summary.flows[flow], items)
            for reason, count in summary.by("reason").items():
                self.check_count(count, [item for item in self.records if item["reason"] == reason])
            self.assertEqual(list(summary.by("reason")), list(REASONS))

    def test_each_step_of_the_flows_carries_all_threads(self):
        for source in ("scheduler", "warp"):
            flows = self.trace.sankey(source)
            for part in (*flows.nodes, *flows.links):
                self.assertEqual(sum(part.values()), threads(self.records))
            self.assertEqual(flows.nodes[2]["refused"], threads(self.refused))
            for node, total in flows.nodes[2].items():
                if node != "refused":
                    self.assertEqual(total, threads(self.moved, unit=node[0], target_scheduler=node[1]))
            for reason in REASONS:
                self.assertEqual(flows.nodes[1][reason], threads(self.records, reason=reason))
                self.assertEqual(flows.links[1].get((reason, "refused", reason), 0), threads(self.refused, reason=reason))

    def test_heat_map_is_the_sum_of_the_records_of_each_cell(self):
        fields = {"sm": "sm", "launch": "launch", "warp": "warp", "source": "source_scheduler", "target": "target_scheduler",
                  "unit": "unit", "reason": "reason", "pc": "pc"}
        for by, field in fields.items():
            for bins, width in ((600, 1), (240, 4), (20, 32), (1, 1024)):
                heat = self.trace.heatmap(by, bins)
                if bins > 1:
                    self.assertEqual(heat.width_cycles, width)
                self.assertLessEqual(heat.columns, bins)
                cells = collections.Counter()
                for item in self.moved:
                    cells[item[field], item["cycle"] // heat.width_cycles * heat.width_cycles] += item["threads"]
                values = heat.values
                self.assertEqual(values.shape, (len(heat.labels), len(heat.edges) - 1))
                drawn = {(label, heat.edges[column]): values[row, column] for row, label in enumerate(heat.labels)
                         for column in range(heat.columns) if values[row, column]}
                self.assertEqual(drawn, dict(cells))
                self.assertEqual(heat.by_reason.sum(axis=1).tolist(), [threads(self.moved, reason=name) for name in REASONS])
                self.assertEqual(heat.by_reason.sum(axis=0).tolist(), values.sum(axis=0).tolist())
                self.assertEqual(heat.refused.sum(), threads(self.refused))

    def test_a_scan_by_blocks_gives_what_the_whole_gives(self):
        path = Folder(self).file("t.csv", csv_of(self.records))
        with mock.patch("sm89.ser_file._BLOCK_BYTES", 8192):
            summary, heat = ser.Summary("warp"), ser.Heatmap("warp", 50)
            extent = ser.scan(path, summary, heat, sm=1)
        part = load(self, self.records, sm=1)
        self.assertEqual(summary.as_dict(), part.summary("warp").as_dict())
        self.assertEqual(heat.values.tolist(), part.heatmap("warp", 50).values.tolist())
        self.assertEqual((extent.decisions, extent.sms, extent.launches), (5000, {0, 1, 2}, {0, 1}))

    def test_unknown_words_are_refused(self):
        with self.assertRaisesRegex(ser.SerError, "by = 'lane', expected one of sm, launch"):
            self.trace.heatmap("lane")
        with self.assertRaisesRegex(ser.SerError, "bins = '0', expected 1 to 4096"):
            self.trace.heatmap("sm", 0)
        with self.assertRaisesRegex(ser.SerError, "source = 'sm', expected scheduler or warp"):
            self.trace.summary("sm")


if __name__ == "__main__":
    unittest.main()
