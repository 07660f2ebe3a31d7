// The last line of .ci/run: `N passed, N failed, N skipped` over every summary in a folder. A failed step without a failed
// test counts as one failure. Plain JavaScript: it runs even where installing failed.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder = '.', failedSteps = '0'] = process.argv.slice(2);
const summaries = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
const sum = (key) => summaries.reduce((total, summary) => total + summary[key], 0);
const failed = Math.max(sum('failed'), Number(failedSteps));

for (const skip of new Set(summaries.flatMap(({ skips }) => skips))) console.log(`skipped: ${skip}`);
for (const failure of summaries.flatMap(({ failures }) => failures)) console.log(`failed test: ${failure}`);
if (sum('passed') === 0 && failed === 0) console.log('no test ran');
console.log(`${sum('passed')} passed, ${failed} failed, ${sum('skipped')} skipped`);
process.exitCode = failed > 0 || sum('passed') === 0 ? 1 : 0;
