import { benchHttp } from './http.ts';
import { measureWebhooks } from './webhooks.ts';

const w = await measureWebhooks(1, 9984);
console.log(
  'webhooks',
  Math.round(w.durable),
  'of writer',
  Math.round(w.writer),
  (w.durable / w.writer).toFixed(3),
  'of bare',
  (w.durable / w.bare).toFixed(3),
  'commands',
  Math.round(w.commands),
  'p99',
  w.p99,
);
for (const f of await benchHttp(2)) console.log(f.name, Math.round(f.requestsPerSecond), f.ratio.toFixed(3));
process.exit(0);
