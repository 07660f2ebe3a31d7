// A token in a form of several parts, which nothing below /api takes: refused as in any other body.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEMO_TOKEN, FULL_TOKEN } from '../../../support/hosts/fake-host-port.ts';
import { startHttp } from '../../../support/http/http-server.ts';

const full = `Authorization: Bearer ${FULL_TOKEN}`;
const demo = `Authorization: Bearer ${DEMO_TOKEN}`;

/** A form of two parts, of which the second has that disposition. */
const multipart = (boundary: string, disposition: string, value: string): string =>
  [
    `--${boundary}`,
    'Content-Disposition: form-data; name="a"',
    '',
    'b',
    `--${boundary}`,
    'Content-Type: text/plain',
    `content-disposition: ${disposition}`,
    '',
    value,
    `--${boundary}--`,
    '',
  ].join('\r\n');

const headersOf = (type: string, body: string): readonly string[] => [
  `Content-Type: ${type}`,
  `Content-Length: ${body.length}`,
];

describe('a form of several parts', () => {
  for (const [type, body] of [
    ['multipart/form-data; boundary=b1', multipart('b1', 'form-data; name="access_token"', FULL_TOKEN)],
    [
      'Multipart/Form-Data; charset=utf-8; boundary="b 2"',
      multipart('b 2', 'Form-Data; filename="x"; NAME=Token', 'x'),
    ],
  ] as const)
    it(`is refused with a field for a token, whoever sends it: ${type}`, async (t) => {
      const server = await startHttp(t, { failures: { limit: 1_000 } });

      for (const line of ['POST /api/system/echo', 'PUT /api/system/ingress', 'POST /api/inbox/1/drop'])
        for (const caller of [[full], [demo], ['Authorization: Bearer wrong'], ['Authorization: Basic dXNlcg=='], []]) {
          const answer = await server.raw(line, [...caller, ...headersOf(type, body)], body);

          assert.equal(answer.status, 400, `${line} ${caller.join()}`);
          assert.match(answer.body, /a token is not taken in the body/);
        }
      assert.deepEqual(server.host.calls, []);
      assert.ok(!server.logged.join('\n').includes(FULL_TOKEN));
    });

  it('is not taken for one with a token by what its parts hold, or what a file is called', async (t) => {
    const server = await startHttp(t, { failures: { limit: 1_000 } });
    const content = 'Content-Disposition: form-data; name="token"\r\n\r\n';
    const body = multipart('b1', 'form-data; filename="; name=token"; name="other"', content);
    const headers = [full, ...headersOf('multipart/form-data; boundary=b1', body)];

    const answers = [
      await server.raw('POST /api/system/echo', headers, body),
      await server.raw('PUT /api/system/ingress', headers, body),
    ];

    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 415],
    );
  });
});
