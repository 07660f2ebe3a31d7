// The mode of a start, as `--mode` names it.
export const MODES = ['development', 'production', 'test'] as const;

export type Mode = (typeof MODES)[number];
