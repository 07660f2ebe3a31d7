// The version of svc: put in by the bundler; from the source tree it is that of development.
declare const SVC_VERSION: string | undefined;
declare const SVC_COMMIT: string | undefined;

export const VERSION: string = typeof SVC_VERSION === 'string' ? SVC_VERSION : '0.0.0-dev';
/** The commit of the build; `unknown` where it was not built from a repository. */
export const COMMIT: string = typeof SVC_COMMIT === 'string' ? SVC_COMMIT : 'unknown';
