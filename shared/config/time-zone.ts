// Checks names of time zones and suggests the nearest known one.
import { nearest } from './nearest.ts';

export function isZone(name: string): boolean {
  // Avoids loading the table of zones for the default, which takes 10 ms.
  if (name === 'UTC') return true;
  try {
    return /^[A-Za-z]/.test(name) && Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** Compares the whole name, else the city alone: `Berlin` finds `Europe/Berlin`. */
export function nearestZone(name: string): string | undefined {
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')];
  const byCity = new Map(zones.map((zone) => [cityOf(zone), zone]));
  return nearest(name, zones) ?? byCity.get(nearest(cityOf(name), [...byCity.keys()]) ?? '');
}

const cityOf = (zone: string): string => zone.slice(zone.lastIndexOf('/') + 1);
