// Extra certificates for the worker (`NODE_EXTRA_CA_CERTS`). Node loads them at start and keeps them, which costs a process 2 MB.
// The supervisor speaks no TLS, so the variable passes through it under another name.

type Environment = Readonly<Record<string, string | undefined>>;

const NODE_NAME = 'NODE_EXTRA_CA_CERTS';
const PASSED_ON = 'SVC_EXTRA_CA_CERTS';

/** Renames the variable for a process without TLS that starts others. */
export const certificatesPassedOn = (environment: Environment): Environment =>
  renamed(environment, NODE_NAME, PASSED_ON);

/** Restores the variable for those others. */
export const certificatesInPlace = (environment: Environment): Environment =>
  renamed(environment, PASSED_ON, NODE_NAME);

function renamed(environment: Environment, from: string, to: string): Environment {
  const { [from]: file, ...others } = environment;
  return file === undefined ? others : { ...others, [to]: file };
}
