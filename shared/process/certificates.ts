// Certificates that an operator adds for the worker (`NODE_EXTRA_CA_CERTS`). Node reads them while it starts, and keeps them: 2 MB of a
// supervisor, which speaks no TLS. So they go past it under another name.

type Environment = Readonly<Record<string, string | undefined>>;

const NODE_NAME = 'NODE_EXTRA_CA_CERTS';
const PASSED_ON = 'SVC_EXTRA_CA_CERTS';

/** For a process that has no use for them, but starts others that may have. */
export const certificatesPassedOn = (environment: Environment): Environment =>
  renamed(environment, NODE_NAME, PASSED_ON);

/** For those others. */
export const certificatesInPlace = (environment: Environment): Environment =>
  renamed(environment, PASSED_ON, NODE_NAME);

function renamed(environment: Environment, from: string, to: string): Environment {
  const { [from]: file, ...others } = environment;
  return file === undefined ? others : { ...others, [to]: file };
}
