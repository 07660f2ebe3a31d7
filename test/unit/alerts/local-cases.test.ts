// The cases of the pack for Prometheus, given to the host's own evaluator: it fires at the same minutes. `kits/deploy/monitoring` gives them to promtool.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ACTIVE_RULES } from '../../../shared/alerts/rules.ts';
import { ALERT_CASES } from '../../support/alerts/alert-cases.ts';
import { localAlerts } from '../../support/alerts/local-alerts.ts';

const firing = (seen: readonly unknown[]): string => seen.map((one) => (one === undefined ? '.' : '!')).join('');

describe("the host's own evaluator", () => {
  for (const rule of ACTIVE_RULES.filter(({ shape }) => shape.kind !== 'prometheus'))
    for (const one of ALERT_CASES.filter((given) => given.rule === rule.name))
      it(`${rule.name}, ${one.title}: fires at the minutes of the case`, () => {
        const alerts = localAlerts(one, rule);
        const wanted = alerts.map((_, minute) =>
          one.fires !== undefined && minute >= one.fires.from && minute <= one.fires.to ? true : undefined,
        );

        assert.equal(firing(alerts), firing(wanted));
        for (const alert of alerts) if (alert !== undefined) assert.deepEqual(alert.labels, one.fires?.labels ?? {});
      });
});
