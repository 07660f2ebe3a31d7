// One alert that fires, for tests of the HTTP interface without a database.
import type { ShownAlerts } from '../../../shared/api/monitoring/alert.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { AlertsApi } from '../../../worker/http/api/alerts-api.ts';

export function fakeAlerts(calls: string[]): AlertsApi {
  const silence = { name: 'SvcNotReady', key: '', until: '2026-01-02T00:00:00.000Z', reason: 'move', by: 'token:full' };
  const list = (texts: boolean): ShownAlerts => ({
    at: '2026-01-01T12:00:00.000Z',
    firing: 1,
    targets: 1,
    alerts: [
      {
        name: 'SvcNotReady',
        key: '',
        severity: 'critical',
        state: 'firing',
        since: '2026-01-01T11:50:00.000Z',
        firedAt: '2026-01-01T11:55:00.000Z',
        labels: {},
        value: 0,
        summary: 'the host is not ready',
        description: 'A check of its readiness is unmet.',
        remedy: 'svc doctor --live URL',
        runbook: 'svc alerts show SvcNotReady',
        toldAt: null,
        flapping: false,
        silenced: false,
        mutedBy: null,
      },
    ],
    unknown: [{ name: 'SvcBacklog', figures: ['svc_inbox_oldest_seconds'] }],
    silences: [texts ? silence : { name: silence.name, key: silence.key, until: silence.until }],
  });
  return {
    list: async (texts) => list(texts),
    figures: async (names) => ({
      stepSeconds: 30,
      times: ['2026-01-01T12:00:00.000Z'],
      series: [{ name: 'svc_ready', labels: {}, values: [0] }].filter(({ name }) => names?.includes(name) !== false),
      unread: ['svc_inbox_oldest_seconds'],
    }),
    silence: async (_caller, { name }) => {
      if (name !== silence.name) throw new SvcError('not_found', `${name} is no rule of this host`);
      calls.push(`silence ${name}`);
      return silence;
    },
    unsilence: async (_caller, { name }) => {
      if (name !== silence.name) throw new SvcError('not_found', `${name} is not silenced`);
      calls.push(`unsilence ${name}`);
    },
    test: async () => {
      calls.push('test alerts');
      return { sends: [{ id: 's1', endpoint: 'root/irc:irc~libera', conversation: '#ops' }] };
    },
  };
}
