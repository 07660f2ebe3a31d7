// The numbers that a supervisor has when nobody says otherwise: from a configuration that names none, the way that the command takes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadConfig } from '../../../shared/config/load.ts';
import { supervisorSettings } from '../../../shared/config/supervisor-settings.ts';
import {
  crashDelay,
  EMPTY_WINDOW,
  type RestartWindow,
  recordCrash,
} from '../../../supervisor/machine/restart-window.ts';
import { limitsOf } from '../../../supervisor/machine/settings.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

describe('the defaults of the supervisor', () => {
  it('are 30 s to be up, 15 s of silence, 2 s for a report, 8 s for a drain, 5 starts in 120 s, delays of 0, 1, 4, 16 s', (t) => {
    const project = temporaryProject(t);
    const loaded = loadConfig({ project: project.path, mode: 'production', environment: { ...project.env } });

    const limits = limitsOf(supervisorSettings(loaded));

    assert.deepEqual(limits, {
      starts: 5,
      spanMs: 120_000,
      resetAfterMs: 120_000,
      delaysMs: [0, 1_000, 4_000, 16_000],
      upMs: 30_000,
      watchdogMs: 15_000,
      reportMs: 2_000,
      stopMs: 8_000,
    });
    const delays: number[] = [];
    let window: RestartWindow = EMPTY_WINDOW;
    for (let crash = 1; crash <= 5; crash += 1) {
      window = recordCrash(window, 0, limits);
      delays.push(crashDelay(window, 0, limits), crashDelay(window, 1, limits));
    }
    assert.deepEqual(delays, [0, 0, 1_000, 1_100, 4_000, 4_400, 16_000, 17_600, 16_000, 17_600]);
  });
});
