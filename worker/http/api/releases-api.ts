// Releases as the HTTP interface sees them. Steps of a release are commands alone.
import type { Release, Releases } from '../../../shared/api/recovery/release.ts';

export interface ReleasesApi {
  /** `texts`: actors, signals' texts, results' details and folders are shown. */
  list(texts: boolean): Promise<Releases>;
  /** Throws `not_found`. */
  show(name: string, texts: boolean): Promise<Release>;
}
