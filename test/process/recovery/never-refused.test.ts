// Nobody is refused while a worker is replaced, whatever it is replaced for and however long that takes: test/process/daemon/held-socket.test.ts has the
// same for SIGKILL, 51 and a command.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SupervisorSettings } from '../../../shared/api/ipc.ts';
import { freePort } from '../../support/free-port.ts';
import { sendSteadily } from '../../support/http/steady-requests.ts';
import { overWorkers } from '../../support/process/fixture-workers.ts';
import { until } from '../../support/until.ts';

interface Replacement {
  /** What the workers are told, one after the other. */
  readonly told: readonly string[];
  readonly settings: Partial<SupervisorSettings>;
  /** The state in which connections have to wait. */
  readonly through: string;
  /** What a worker had accepted goes with it, where that one cannot answer any more. */
  readonly mayCut: boolean;
}

const PER_SECOND = 20;
const SOME = 10;

const supervise = overWorkers(['serves-http']);

const REPLACEMENTS: Readonly<Record<string, Replacement>> = {
  'ends with 75': { told: ['75'], settings: {}, through: 'draining', mayCut: false },
  'is silent until it is killed': {
    told: ['silent'],
    settings: { watchdogMs: 1_500, restarts: 1_000 },
    through: 'hung',
    mayCut: true,
  },
  'has crashed twice, so that the next one waits': {
    told: ['1', '1'],
    settings: { delaysMs: [0, 1_000] },
    through: 'backing_off',
    mayCut: true,
  },
};

describe('the held socket refuses nobody', () => {
  for (const [how, { told, settings, through, mayCut }] of Object.entries(REPLACEMENTS))
    it(`while a worker is replaced that ${how}`, async (t) => {
      const port = await freePort();
      const run = supervise(t, 'serves-http', { settings: { port, ...settings } });
      await run.state('running');
      const requests = sendSteadily(`http://127.0.0.1:${port}/`, PER_SECOND, { mostOpen: 1_000 });
      const more = (): Promise<unknown> => {
        const so = requests.answered();
        return until(() => requests.answered() > so + SOME, { what: 'answers' });
      };

      for (const [ends, what] of told.entries()) {
        await more();
        run.project.write(what, '');
        // A successor may be silent for too long as well, where the machine is busy.
        await until(async () => [await run.status()].find((now) => now.exits.length > ends && now.ready), {
          what: 'the next worker',
        });
      }
      await more();
      const { sent, answered, cut, refused, others } = await requests.end();

      assert.deepEqual({ refused, others }, { refused: 0, others: [] });
      assert.equal(answered + cut, sent);
      if (!mayCut) assert.equal(cut, 0);
      assert.ok(run.trace().some(({ after }) => after.state.kind === through));
    });
});
