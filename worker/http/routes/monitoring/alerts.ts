// Alerts of the host: list, silence, test; the figures of the last hour.
import type { AlertTested, ShownSilence } from '../../../../shared/api/monitoring/alert.ts';
import { type Answer, type QueryField, route } from '../route.ts';

const FIGURES_QUERY = {
  names: { type: 'string', description: 'Names of metrics, separated by commas. Left out: all.', maxLength: 1_000 },
} as const satisfies Record<string, QueryField>;

const silenceAnswer = (silence: ShownSilence): Answer => ({ status: 200, json: silence });
const testAnswer = (tested: AlertTested): Answer => ({ status: 202, json: tested });
const nothingAnswer = (): Answer => ({ status: 204 });

export const alertRoutes = [
  route({
    method: 'GET',
    path: '/api/alerts',
    scope: 'demo',
    summary: 'Alerts that fire or are pending, and silences',
    answers: { 200: 'Alerts' },
    handle: async ({ port, caller }) => ({ status: 200, json: await port.alerts.list(caller().scope === 'full') }),
  }),
  route({
    method: 'POST',
    path: '/api/alerts/silence',
    scope: 'full',
    summary: 'Silences the alerts of a name, or one of them, until a time',
    body: 'AlertSilenceAsk',
    changes: true,
    answers: { 200: 'AlertSilence', 404: 'Problem' },
    handle: async ({ port, caller, body, keep }) =>
      silenceAnswer(await port.alerts.silence(caller(), body, keep(silenceAnswer))),
  }),
  route({
    method: 'POST',
    path: '/api/alerts/unsilence',
    scope: 'full',
    summary: 'Ends a silence',
    body: 'AlertUnsilenceAsk',
    changes: true,
    answers: { 204: 'nothing', 404: 'Problem' },
    handle: async ({ port, caller, body, keep }) => {
      await port.alerts.unsilence(caller(), body, keep(nothingAnswer));
      return nothingAnswer();
    },
  }),
  route({
    method: 'POST',
    path: '/api/alerts/test',
    scope: 'full',
    summary: 'Sends a test message to the targets of alerts',
    body: 'AlertTestAsk',
    changes: true,
    answers: { 202: 'AlertTested', 409: 'Problem' },
    handle: async ({ port, caller, body, keep }) =>
      testAnswer(await port.alerts.test(caller(), body, keep(testAnswer))),
  }),
  route({
    method: 'GET',
    path: '/api/figures',
    scope: 'demo',
    summary: 'Samples of the last hour, 30 s apart: the figures that alerts look at, messages in and out',
    query: FIGURES_QUERY,
    answers: { 200: 'Figures' },
    handle: async ({ port, query }) => ({ status: 200, json: await port.alerts.figures(query.names?.split(',')) }),
  }),
];
