// Rooms of an XMPP account that let it in later, all at once, and whose archives cannot be read.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { XmlElement } from '@xmpp/client';
import { xmppAccount, xmppBot } from '../../support/accounts/xmpp-account.ts';
import { fakeXmpp } from '../../support/fake-platforms/xmpp-server.ts';
import { until } from '../../support/until.ts';

const LATE = Array.from({ length: 6 }, (_, n) => `late-${n}@rooms.localhost`);
/** Is tried again as often as archives are. */
const SHUT = 'shut@rooms.localhost';
const ROUNDS = 6;
const seen = Object.fromEntries(['bot@localhost', ...LATE].map((place) => [place, { id: 'a0', at: 1 }]));

const isAsked = (stanza: XmlElement): boolean => stanza.getChild('query', 'urn:xmpp:mam:2') !== undefined;

describe('XMPP rooms that let the account in later', () => {
  it('are asked for together what was missed, again and again, and that is warned of once', async (t) => {
    let isClosed = true;
    const warnings: string[] = [];
    const warn = (...said: readonly unknown[]): void => void warnings.push(String(said.at(-1)));
    const server = await fakeXmpp(t, {
      answer: (stanza) => {
        const { name } = stanza;
        const { id, to = '' } = stanza.attrs;
        const error = (condition: string): string =>
          `<${name} type='error' id='${id}' from='${to}'><error type='cancel'><${condition} xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></${name}>`;
        if (name === 'presence' && (to.startsWith(SHUT) || (isClosed && to.startsWith('late'))))
          return error('service-unavailable');
        if (name === 'presence' && to.startsWith('late'))
          return `<presence from='${to}'><x xmlns='http://jabber.org/protocol/muc#user'><item affiliation='none' role='participant'/><status code='110'/></x></presence>`;
        return isAsked(stanza) && LATE.includes(to) ? error('internal-server-error') : undefined;
      },
    });
    await xmppBot(t, xmppAccount(server.port, { rooms: [...LATE, SHUT].map((jid) => ({ jid })) }), {
      cursor: JSON.stringify({ v: 1, jid: 'bot@localhost', seen }),
      log: { debug() {}, info() {}, warn, error: warn },
    });
    const asked = (): number => server.stanzas.filter((one) => one.attrs['to'] === LATE[0] && isAsked(one)).length;
    const tried = (): number =>
      server.stanzas.filter((one) => one.name === 'presence' && one.attrs['to']?.startsWith(SHUT) === true).length;
    const ofArchives = (): readonly string[] => warnings.filter((text) => text.includes('archive'));

    isClosed = false;
    await until(() => asked() > LATE.length, { what: 'all to be in, and asked for' });
    const [first, then] = [asked(), tried()];
    await until(() => tried() >= then + ROUNDS, { what: 'the time of some rounds' });
    const more = asked() - first;

    assert.ok(more <= 2 * ROUNDS, `asked ${more} times more in the time of ${ROUNDS} rounds`);
    assert.deepEqual(ofArchives(), ['the archive of a room could not be read']);
  });
});
