// One session of the XMPP library with the scripted server, and what either wrote on its stream.
import { client as open, type XmlElement, xml } from '@xmpp/client';
import { fakeXmpp } from '../fake-platforms/xmpp-server.ts';
import type { Cleanup } from '../temporary-project.ts';
import { until } from '../until.ts';
import { nameOf } from './clients.ts';
import type { Recorded } from './recorder.ts';
import { streamsOf } from './streams.ts';

const WAITING =
  "<message from='ann@localhost/x' to='bot@localhost' type='chat' id='o-a1'><body>hello</body><stanza-id xmlns='urn:xmpp:sid:0' by='bot@localhost' id='a1'/></message>";

export async function xmppSession(
  t: Cleanup,
): Promise<{ readonly client: string; readonly frames: readonly Recorded[] }> {
  const server = await fakeXmpp(t, { waiting: [WAITING] });
  const { port, written } = await streamsOf(t, server.port);
  const service = `xmpp://127.0.0.1:${port}`;
  const entity = open({
    service,
    domain: 'localhost',
    resource: 'svc',
    credentials: (authenticate, [mechanism = '']) => authenticate({ username: 'bot', password: 'pw-bot' }, mechanism),
  });
  entity.reconnect.stop();
  entity.on('error', () => {});
  const heard: XmlElement[] = [];
  entity.on('stanza', (stanza: XmlElement) => stanza.name === 'message' && heard.push(stanza));
  await entity.connect(service);
  await entity.open({ domain: 'localhost' });
  await until(() => entity.status === 'online' && entity.streamManagement.enabled, { what: 'the session' });
  let acknowledged = 0;
  entity.streamManagement.on('ack', () => void (acknowledged += 1));
  await entity.send(xml('presence'));
  await entity.send(xml('message', { to: 'ann@localhost', id: 'm1' }, xml('body', {}, 'hi')));
  await until(() => acknowledged === 2 && heard.length === 1, { what: 'both ways' });
  const frames = (['client', 'platform'] as const).map((from) => ({ from, frame: linesOf(written[from]) }));
  (entity.socket as { destroy?(): void } | null)?.destroy?.();
  return { client: nameOf('@xmpp/client'), frames };
}

/** An element a line; what is made of chance by name. Acknowledgements come when they like. */
function linesOf(stream: string): readonly string[] {
  const ids = new Map<string, number>();
  return stream
    .replace(/(<(?:auth|challenge|response|success)\b[^>]*>)[^<]*/g, '$1…')
    .replace(/\bid=(['"])([^'"]*)\1/g, (_, quote: string, id: string) => {
      if (!ids.has(id)) ids.set(id, ids.size + 1);
      return `id=${quote}${ids.get(id) ?? 0}${quote}`;
    })
    .replaceAll('><', '>\n<')
    .split('\n')
    .filter((line) => !/^<[ra] /.test(line));
}
