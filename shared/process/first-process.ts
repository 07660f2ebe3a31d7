// Tells a worker that its parent is a shell. svc starts that shell as a container's first process (pid 1), to reap orphans.

/** Set for the child of that shell only, and not passed on. */
export const INIT_VARIABLE = 'SVC_INIT';
