// Values of `--mode`.
export const MODES = ['development', 'production', 'test'] as const;

export type Mode = (typeof MODES)[number];
