// Where one class of case is tried many times, `npm test` tries some of them. `npm run exhaustive` tries all.
/* biome-ignore lint/style/noProcessEnv: a switch of the test run */
const LONG = process.env['SVC_TESTS'] === 'long';

/** One of two forms: a number of runs, a step between cases. */
export const ofRun = <T>(forms: { readonly short: T; readonly long: T }): T => (LONG ? forms.long : forms.short);
