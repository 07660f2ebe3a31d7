// Bounded tables in memory.

/** Sets the value and makes its key the newest. With more than `most` entries the oldest is removed. */
export function keepNewest<K, V>(map: Map<K, V>, [key, value]: readonly [K, V], most: number): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.size > most ? map.keys().next() : undefined;
  if (oldest?.done === false) map.delete(oldest.value);
}
