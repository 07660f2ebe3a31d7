// Names of time zones: whether one is known, and the nearest one that is.
import { nearest } from './nearest.ts';

export function isZone(name: string): boolean {
  // The default needs no table of zones, which takes 10 ms to load.
  if (name === 'UTC') return true;
  try {
    return /^[A-Za-z]/.test(name) && Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** By the whole name, else by the city alone: `Berlin`, `Europa/Berlin`. */
export function nearestZone(name: string): string | undefined {
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')];
  const byCity = new Map(zones.map((zone) => [cityOf(zone), zone]));
  return nearest(name, zones) ?? byCity.get(nearest(cityOf(name), [...byCity.keys()]) ?? '');
}

const cityOf = (zone: string): string => zone.slice(zone.lastIndexOf('/') + 1);
