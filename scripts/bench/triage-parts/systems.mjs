// @ts-check
/** What is compared: the digest and the ways in which neighbouring tools choose context, all told in the same format. */
import { createDigester } from "../../../dist/capture/context-digest.js";
import { fitDigest } from "../../../dist/capture/triage/fit.js";
import { openWordVectors } from "../../../dist/capture/triage/word-vectors.js";
import { readTurn } from "../../../dist/capture/triage/read-turn.js";
import { createHistory } from "../../../dist/store/history.js";

/**
 * @typedef {{ turn: string, nowUs: number, timeZone: string, budgetTokens: number }} Ask
 * @typedef {{ name: string, answer: (ask: Ask) => string }} System
 * @typedef {import("../../../dist/store/history.js").Visit} Visit
 */

const DAY_US = 86_400_000_000;

/**
 * @param {import("../../../dist/store/database.js").StoreDatabase} database
 * @param {{ semantic: boolean }} options whether the digest also finds topics by meaning
 * @returns {System[]}
 */
export function createSystems(database, { semantic }) {
  const history = createHistory(database);
  const digester = createDigester({ history, ...(semantic ? { vectors: openWordVectors() } : {}) });
  const search = database.prepare(
    "SELECT rowid AS id FROM document_fts WHERE document_fts MATCH ? ORDER BY rank LIMIT 12",
  );

  /** @param {readonly Visit[]} visits @param {Ask} ask */
  const tell = (visits, { nowUs, timeZone, budgetTokens }) => {
    const documents = new Map(
      history
        .documents([...new Set(visits.map(({ documentId }) => documentId))])
        .map((d) => [d.id, d]),
    );
    const lines = visits.flatMap(({ documentId, startUs, endUs, activeUs }, rank) => {
      const document = documents.get(documentId);
      if (document === undefined) return [];
      return [
        {
          kind: /** @type {const} */ ("span"),
          document,
          device: null,
          startUs,
          endUs,
          activeUs,
          score: -rank,
          reason: "",
        },
      ];
    });
    return fitDigest(lines, budgetTokens, nowUs, timeZone)?.block ?? "";
  };
  /** The documents that had most of a span, each from its first to its last moment. @param {number} fromUs @param {number} toUs */
  const mostOf = (fromUs, toUs) => {
    /** @type {Map<number, Visit>} */
    const spent = new Map();
    for (const visit of history.visitsBetween(fromUs, toUs)) {
      const [startUs, endUs] = [Math.max(visit.startUs, fromUs), Math.min(visit.endUs, toUs)];
      const known = spent.get(visit.documentId);
      const activeUs = visit.activeUs + (known?.activeUs ?? 0);
      spent.set(visit.documentId, {
        documentId: visit.documentId,
        startUs: Math.min(startUs, known?.startUs ?? startUs),
        endUs: Math.max(endUs, known?.endUs ?? endUs),
        activeUs,
        deviceKey: 0,
      });
    }
    return [...spent.values()].sort((a, b) => b.activeUs - a.activeUs);
  };
  /** @param {string} turn */
  const found = (turn) => {
    const words = turn.match(/[\p{L}\p{N}]{2,}/gu) ?? [];
    if (words.length === 0) return [];
    return search
      .all(words.map((word) => `"${word}"`).join(" OR "))
      .map((row) => Number(row["id"]));
  };
  /** @param {Ask} ask */
  const timeOf = ({ turn, nowUs, timeZone }) =>
    readTurn(turn, nowUs, timeZone).times.find(({ kind }) => kind !== "now");

  return [
    {
      name: "most recent",
      answer: (ask) =>
        tell([...history.visitsBetween(ask.nowUs - DAY_US, ask.nowUs)].reverse(), ask),
    },
    {
      name: "keyword search",
      answer: (ask) => {
        const ids = found(ask.turn);
        const latest = ids.flatMap((id) => history.visitsOf([id], ask.nowUs, 1));
        return tell(latest, ask);
      },
    },
    { name: "top of today", answer: (ask) => tell(mostOf(startOfDay(ask.nowUs), ask.nowUs), ask) },
    {
      name: "search in time",
      answer: (ask) => {
        const ids = found(ask.turn);
        const time = timeOf(ask);
        const [fromUs, toUs] = time === undefined ? [0, ask.nowUs] : [time.fromUs, time.toUs];
        const visits = ids.flatMap((id) => history.visitsOf([id], toUs, 40));
        return tell(visits.filter(({ endUs }) => endUs > fromUs).slice(0, 12), ask);
      },
    },
    {
      name: "top in time",
      answer: (ask) => {
        const time = timeOf(ask);
        return time === undefined ? "" : tell(mostOf(time.fromUs, time.toUs), ask);
      },
    },
    { name: "digest", answer: (ask) => digester.render(ask).block ?? "" },
  ];
}

/** @param {number} us */
function startOfDay(us) {
  return new Date(us / 1000).setHours(0, 0, 0, 0) * 1000;
}
