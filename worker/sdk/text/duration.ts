// Durations as people write them, for authors of plugins.
export { readDuration, showDuration } from '../../../shared/time/duration.ts';
