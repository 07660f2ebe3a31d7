// What a failed reload tells over HTTP of the machine it runs on: nothing.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { running } from '../support/hosts/app-host.ts';

describe('a reload that fails', () => {
  it('names no path of the machine: files are named from the project on, and the log has the stack', async (t) => {
    const host = await running(t);
    const { path } = host.project;
    writeFileSync(join(path, 'lost.mjs'), "import './missing.js';");
    writeFileSync(join(path, 'thrown.mjs'), "throw new Error('of ' + import.meta.url);");
    const slots = { lost: { use: './lost.mjs' }, thrown: { use: './thrown.mjs' } };

    host.configure({ plugins: { sandbox: {}, ...slots } });
    const refused = await host.call('POST', '/api/system/reload', {});
    const readiness = await host.call('GET', '/api/system/readiness');
    const status = await host.call('GET', '/api/system/status');

    assert.equal(refused.status, 409);
    assert.match(refused.text, /lost\.mjs cannot be loaded: Cannot find module 'missing\.js' imported from lost\.mjs/);
    assert.match(refused.text, /thrown\.mjs cannot be loaded: of thrown\.mjs/);
    for (const { text } of [refused, readiness, status]) assert.ok(!text.includes(path), text);
    const line = host.project
      .read('.svc/runtime.log')
      .split('\n')
      .find((text) => text.includes('generation not committed'));
    assert.match(line ?? '', /"stack":"[^"]*missing\.js/);
  });
});
