// A worker in a container whose first process is a shell that svc itself has put there: supervisor/cli/start/first-process.ts does, the worker is told by this.

/** Set for the child of that shell, and for no child of its own. */
export const INIT_VARIABLE = 'SVC_INIT';
