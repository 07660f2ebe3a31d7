// What the log keeps in memory at full speed: number 39 of the table of faults. How fast it is stands in `npm run bench -- logs`. Each round is a
// process of its own; what a collector had not taken yet counts in none, so the best one counts.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { bundlePrograms } from '../../support/process/bundle.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

const ROUNDS = 8;
const MOST_BYTES = 5e6;

describe('the log at full speed', () => {
  it('grows by 5 MB at most over 200 MB', async (t) => {
    const programs = await bundlePrograms(['test/support/fixture-programs/log-load.ts']);
    const growths: number[] = [];
    const grows = (): number => {
      const file = `${temporaryProject(t).path}/runtime.log`;
      const printed = execFileSync(process.execPath, [programs.get('log-load') ?? '', 'stamped', file]);
      return (JSON.parse(printed.toString()) as { readonly rssBytes: number }).rssBytes;
    };

    while (growths.length < ROUNDS && !growths.some((bytes) => bytes <= MOST_BYTES)) growths.push(grows());

    assert.ok(Math.min(...growths) <= MOST_BYTES, growths.join(' '));
  });
});
