/** Which bodies are solved together. */

/**
 * Sets of dynamic bodies that contacts or joints connect; static and animated bodies connect nothing.
 * @param pairs [[a, b], …] @param moves id → whether the body is dynamic @returns {Map<number, number>} id → the least id of its set
 */
export function islandsOf(pairs, moves) {
  const parent = new Map();
  const root = (id) => {
    let at = id;
    while (parent.get(at) !== at) {
      parent.set(at, parent.get(parent.get(at)));
      at = parent.get(at);
    }
    return at;
  };
  for (const pair of pairs) {
    if (!pair.every(moves)) continue;
    for (const id of pair) if (!parent.has(id)) parent.set(id, id);
    const [low, high] = pair.map(root).sort((a, b) => a - b);
    parent.set(high, low);
  }
  return new Map([...parent.keys()].map((id) => [id, root(id)]));
}
