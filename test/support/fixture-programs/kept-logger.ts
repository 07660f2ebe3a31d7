// What the comparison of process managers keeps up to log with: writes JSON lines to its output at full speed, through the log of a worker with
// redaction (KEPT_LOGGER=own) or through pino as others have it, and tells in ./spoken how many and since when.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { type DestinationStream, pino, stdTimeFunctions } from 'pino';
import { createLog } from '../../../shared/log/logger.ts';
import { comeUp, hello, obey } from '../process/fixture-worker.ts';

const LINES = 400_000;
const BASE = { project: 'shop', runtimeId: '0193a5c8-7c1e-7b9e-9c55-0123456789ab' };
const FIELDS = { endpoint: 'root/irc:irc~libera', item: '0193a5c8-7c1e-7b9e-9c55-abcdef012345', ms: 12.5 };
const SECRETS = Array.from({ length: 8 }, () => randomBytes(32).toString('base64url'));
const STDOUT = 1;

hello();
obey();
comeUp();
const logger = process.env['KEPT_LOGGER'] === 'own' ? own() : plain(pino.destination({ dest: STDOUT, sync: true }));
const startedAt = Date.now();
for (let n = 0; n < LINES; n += 1) logger.info(FIELDS, 'item handled');
writeFileSync('spoken', JSON.stringify({ bytes: LINES * lineBytes(), lines: LINES, startedAt }));

function own() {
  const log = createLog({ destination: STDOUT, base: BASE });
  log.secrets.add(SECRETS);
  return log.logger;
}

function plain(to: DestinationStream) {
  const level = (label: string) => ({ level: label });
  return pino({ base: BASE, timestamp: stdTimeFunctions.isoTime, formatters: { level } }, to);
}

/** Of one of them: all are equally long. */
function lineBytes(): number {
  let bytes = 0;
  plain({ write: (line) => void (bytes = Buffer.byteLength(line)) }).info(FIELDS, 'item handled');
  return bytes;
}
