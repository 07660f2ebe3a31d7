import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addressOf, clientOf, isEveryAddress, isLoopback, isLoopbackHost } from '../../../shared/ip-address.ts';
import { maySendToken } from '../../../supervisor/cli/doctor/address.ts';
import { type Account, accountFault } from '../../../worker/adapters/xmpp/config.ts';

const LOOPBACK = [
  '127.0.0.1',
  '127.9.9.9',
  '::1',
  '0:0:0:0:0:0:0:1',
  '0::1',
  '::1%lo',
  '::ffff:127.0.0.1',
  '::FFFF:7f00:1',
];
const OTHERS = [
  '',
  '128.0.0.1',
  '10.0.0.1',
  '::',
  '0.0.0.0',
  '::ffff:10.0.0.1',
  '::2',
  'fe80::1',
  '127.0.0.1.example',
  '127.example.org',
  '1270.0.0.1',
];

describe('addresses', () => {
  it('are loopback in any spelling', () => {
    assert.deepEqual(
      LOOPBACK.filter((address) => !isLoopback(address)),
      [],
    );
    assert.deepEqual(OTHERS.filter(isLoopback), []);
  });

  it('of hosts may be names, shorthands and literals of URLs', () => {
    const hosts = [...LOOPBACK, 'localhost', 'LOCALHOST', 'localhost.', '127.1', '0x7f.1', '[::1]', '[0:0::1]'];

    assert.deepEqual(
      hosts.filter((host) => !isLoopbackHost(host)),
      [],
    );
    const others = [
      ...OTHERS,
      'localhost.example',
      'notlocalhost',
      '[::2]',
      'a@127.0.0.1',
      '127.0.0.1/x',
      '127.0.0.1:80',
    ];
    assert.deepEqual(others.filter(isLoopbackHost), []);
  });

  it('are all of this machine in any spelling', () => {
    const every = ['0.0.0.0', '::', '0:0:0:0:0:0:0:0', '0::0', '::ffff:0.0.0.0'];

    assert.deepEqual(
      every.filter((address) => !isEveryAddress(address)),
      [],
    );
    assert.deepEqual(['127.0.0.1', '::1', '10.0.0.1', '0.0.0.1', '*'].filter(isEveryAddress), []);
  });

  it('are of one client within a network of 64 bits of IPv6, in any spelling', () => {
    const one = ['2001:db8:0:7::1', '2001:db8:0:7:ffff:ffff:ffff:ffff', '2001:DB8::7:0:0:9:1', '2001:db8:0:7::%eth0'];

    assert.deepEqual(
      one.map(clientOf),
      one.map(() => '2001:db8:0:7::/64'),
    );
    assert.deepEqual(['2001:db8:0:8::1', '2001:db8::', 'fe80::1%eth0', '::2', '1:2:3:4:5:6:7::'].map(clientOf), [
      '2001:db8:0:8::/64',
      '2001:db8:0:0::/64',
      'fe80:0:0:0::/64',
      '0:0:0:0::/64',
      '1:2:3:4::/64',
    ]);
    const four = ['192.0.2.7', '::ffff:192.0.2.7', '::FFFF:c000:207', '', 'unknown'];
    assert.deepEqual(four.map(clientOf), ['192.0.2.7', '192.0.2.7', '192.0.2.7', '', 'unknown']);
  });

  it('are read as resolvers read them', () => {
    assert.deepEqual(['127.1', '[::1]', '10.1', '::1', 'example.org', 'localhost', '*'].map(addressOf), [
      '127.0.0.1',
      '::1',
      '10.0.0.1',
      '::1',
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('loopback', () => {
  it('is where a token may go in the clear, and an XMPP account without TLS, in any spelling', () => {
    const account = { jid: 'bot@example.org', tls: 'none' } as Account;
    const urls = ['http://localhost', 'http://127.1', 'http://[0::1]', 'http://[::ffff:127.0.0.1]'];
    const far = ['http://example.org', 'http://[::2]', 'http://127.example.org'];

    assert.deepEqual(
      [...urls, ...far].map((url) => maySendToken(new URL(url), false)),
      [true, true, true, true, false, false, false],
    );
    assert.deepEqual(
      ['localhost', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', '127.0.0.1', '127.example.org'].map(
        (host) => accountFault({ ...account, host }) === undefined,
      ),
      [true, true, true, true, false],
    );
  });
});
