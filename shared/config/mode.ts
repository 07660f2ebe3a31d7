// Values of `--mode`.
export const MODES = ['development', 'production', 'test'] as const;

export type Mode = (typeof MODES)[number];

/** The port of a host that `svc/testing` starts. Only such a host serves in mode test. */
export const TEST_HOST_VARIABLE = 'SVC_TEST_PORT';
