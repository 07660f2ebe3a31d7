// Tables in memory of what was seen lately.

/** Sets the value and makes it the newest; over `most` entries the oldest is forgotten. */
export function keepNewest<K, V>(map: Map<K, V>, [key, value]: readonly [K, V], most: number): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.size > most ? map.keys().next() : undefined;
  if (oldest?.done === false) map.delete(oldest.value);
}
