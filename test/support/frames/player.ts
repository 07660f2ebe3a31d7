// Says recorded requests to a fake platform again, with the ids of this run in them.
import type { Recorded, RecorderOptions } from './recorder.ts';
import { contentOf } from './recorder.ts';
import { Stable } from './stable.ts';

/** The requests with what was answered now, as they would be recorded. Frames of sockets are left out: they depend on who is connected. */
export async function played(
  frames: readonly Recorded[],
  { port, known, madeUp }: RecorderOptions,
): Promise<readonly Recorded[]> {
  const address = `127.0.0.1:${port}`;
  const stable = new Stable({ ...known, address }, madeUp);
  const again: Recorded[] = [];
  for (const frame of frames) {
    if (!('method' in frame)) continue;
    const { method, path, type, headers, body } = frame;
    const response = await fetch(`http://${address}${encodeURI(stable.restored(path))}`, {
      method,
      headers: {
        ...(type === undefined ? {} : { 'content-type': typeOf(type) }),
        ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, stable.restored(value)])),
      },
      ...(type === undefined ? {} : { body: bodyOf(type, body, (text) => stable.restored(text)) }),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const { body: answer } = contentOf(stable, response.headers.get('content-type') ?? '', bytes);
    again.push({ ...frame, status: response.status, ...(answer === undefined ? {} : { answer }) });
  }
  return again;
}

const BOUNDARY = 'the-boundary';
const typeOf = (type: string): string => (type === 'multipart/form-data' ? `${type}; boundary=${BOUNDARY}` : type);

function bodyOf(type: string, body: unknown, restored: (text: string) => string): string {
  if (typeof body === 'string') return restored(body).replaceAll('<boundary>', BOUNDARY);
  if (type === 'application/json') return restored(JSON.stringify(body));
  const form = Object.entries(body as Record<string, string>).map(([name, value]) => [name, restored(value)]);
  return new URLSearchParams(form).toString();
}
