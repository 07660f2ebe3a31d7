// The version of svc, inserted by the bundler. The source tree has a development version.
declare const SVC_VERSION: string | undefined;
declare const SVC_COMMIT: string | undefined;

export const VERSION: string = typeof SVC_VERSION === 'string' ? SVC_VERSION : '0.0.0-dev';
/** The commit of the build. `unknown` if it was not built from a repository. */
export const COMMIT: string = typeof SVC_COMMIT === 'string' ? SVC_COMMIT : 'unknown';
