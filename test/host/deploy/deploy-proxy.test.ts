// `svc deploy init proxy`: what stands in the file of each proxy, which names are refused, and which keys are left to set.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { headOf, templateHash } from '../../../supervisor/cli/deploy/template.ts';
import { deployFolder, runDeploy } from '../../support/commands/deploy-run.ts';

const HOST = 'bot.example';
const FILES = { caddy: 'proxy/Caddyfile', nginx: 'proxy/nginx.conf', haproxy: 'proxy/haproxy.cfg' } as const;
const KINDS = ['caddy', 'nginx', 'haproxy'] as const;

const configured = (t: TestContext, http: string): string =>
  deployFolder(t, { config: `http:\n  token: \${HTTP_TOKEN}\n${http}` });

async function written(t: TestContext, kind: (typeof KINDS)[number], http: string): Promise<string> {
  const folder = configured(t, http);
  await runDeploy(folder, 'proxy', { kind, host: HOST });
  return readFileSync(join(folder, 'deploy', FILES[kind]), 'utf8');
}

/** The lines that are in force. */
const inForce = (text: string): string =>
  text
    .split('\n')
    .filter((line) => !/^\s*#/u.test(line))
    .join('\n');

describe('svc deploy init proxy', () => {
  it('writes one file, which names svc and the template, and leaves no mark of the template', async (t) => {
    for (const kind of KINDS) {
      const folder = deployFolder(t);
      const { actions, next } = await runDeploy(folder, 'proxy', { kind, host: HOST });
      const again = await runDeploy(folder, 'proxy', { kind, host: HOST });
      const path = `deploy/${FILES[kind]}`;
      const text = readFileSync(join(folder, path), 'utf8');

      assert.deepEqual([actions, again.actions], [{ [path]: 'made' }, { [path]: 'unchanged' }]);
      assert.equal(headOf(text)?.hash, templateHash(FILES[kind]));
      assert.doesNotMatch(text, /@[A-Z_]+@/u);
      assert.doesNotMatch(text, new RegExp(folder, 'u'));
      assert.match(text, /127\.0\.0\.1:8068/u);
      assert.match(inForce(text), /Strict-Transport-Security/u);
      assert.doesNotMatch(inForce(text), /^\s*encode\b|compression algo|gzip on/mu);
      assert.equal(next.length, 4);
      assert.equal(next.at(-1), 'npx svc doctor --edge https://bot.example --idle 40');
    }
  });

  it('gives the commands of that proxy', async (t) => {
    const commands = async (kind: string) =>
      (await runDeploy(deployFolder(t), 'proxy', { kind, host: HOST })).next.slice(0, 3);

    assert.deepEqual(await commands('nginx'), [
      'sudo cp deploy/proxy/nginx.conf /etc/nginx/conf.d/acme-my-bot.conf',
      'sudo nginx -t',
      'sudo systemctl reload nginx',
    ]);
    assert.deepEqual(await commands('haproxy'), [
      'sudo cp --backup=numbered deploy/proxy/haproxy.cfg /etc/haproxy/haproxy.cfg',
      'sudo haproxy -c -f /etc/haproxy/haproxy.cfg',
      'sudo systemctl reload haproxy',
    ]);
    assert.deepEqual(await commands('caddy'), [
      'sudo cp --backup=numbered deploy/proxy/Caddyfile /etc/caddy/Caddyfile',
      'sudo caddy validate --config /etc/caddy/Caddyfile',
      'sudo systemctl reload caddy',
    ]);
  });

  it('gives each time of HAProxy a unit', async (t) => {
    const text = await written(t, 'haproxy', '');
    const times = [...text.matchAll(/^\s*timeout \S+ (\S+)$/gmu)].map(([, value = '']) => value);

    assert.equal(times.length >= 6, true);
    assert.deepEqual(
      times.filter((time) => !/^\d+(ms|s|m|h)$/u.test(time)),
      [],
    );
  });

  it('takes address and base path from the configuration, or from the default of a reference', async (t) => {
    for (const kind of KINDS) {
      const own = await written(t, kind, '  host: "::1"\n  port: 9000\n  base: /b.ots\n');
      assert.match(own, /\[::1\]:9000/u);
      assert.match(own, /\^\(\/b\[\.\]ots\/\(webhooks\|files\|pub\)\/\|\/pub\/\)/u);
      assert.match(await written(t, kind, '  port: ${PORT:-9001}\n  host: 0.0.0.0\n'), /127\.0\.0\.1:9001/u);
    }
    assert.match(await written(t, 'nginx', '  base: /bots\n'), /location = \/bots\/api\/events/u);
    const folder = configured(t, '  base: /bots\n');
    const { next } = await runDeploy(folder, 'proxy', { kind: 'caddy', host: HOST });
    assert.match(next.at(-1) ?? '', /https:\/\/bot\.example\/bots --idle/u);

    for (const [http, says] of [
      ['  port: ${PORT}\n', /http\.port .* known at the start alone/u],
      ['  base: "/x y"\n', /http\.base .* no path/u],
      ['  host: bots\n', /http\.host .* no IP address/u],
      ['  port: "80;"\n', /http\.port .* no port/u],
    ] as const) {
      const refusing = configured(t, http);
      await assert.rejects(runDeploy(refusing, 'proxy', { kind: 'nginx', host: HOST }), {
        code: 'refused',
        message: says,
      });
      assert.equal(existsSync(join(refusing, 'deploy')), false);
    }
  });

  it('says which of the two keys are to be set', async (t) => {
    const notes = async (http: string) => {
      const told = await runDeploy(configured(t, http), 'proxy', { kind: 'nginx', host: HOST });
      return told.notes.slice(0, 2);
    };
    const set = 'http.publicUrl is https://bot.example already';

    assert.match((await notes(''))[0] ?? '', /^set http\.trustedProxies: \[127\.0\.0\.1\]/u);
    assert.match((await notes('  trustedProxies: [10.0.0.1]\n'))[0] ?? '', /\[10\.0\.0\.1, 127\.0\.0\.1\]/u);
    for (const listed of ['127.0.0.1', '127.0.0.0/8', '"::1", 127.0.0.1/32'])
      assert.equal((await notes(`  trustedProxies: [${listed}]\n`))[0], 'http.trustedProxies holds 127.0.0.1 already');
    assert.match((await notes(''))[1] ?? '', /^set http\.publicUrl/u);
    assert.equal((await notes('  publicUrl: https://bot.example\n'))[1], set);
    assert.match((await notes('  publicUrl: http://bot.example\n'))[1] ?? '', /it has to be https:\/\/bot\.example$/u);
  });

  it('takes a DNS name and nothing else as host', async (t) => {
    const folder = deployFolder(t);
    const names = [
      'https://bot.example',
      'bot.example:443',
      'bot.example/x',
      '*.bot.example',
      '192.0.2.1',
      '::1',
      'bot..example',
      '-bot.example',
      'bot.example;',
      'bot example',
      'bot.example\n}',
      `${'a'.repeat(64)}.example`,
    ];
    for (const host of names)
      await assert.rejects(runDeploy(folder, 'proxy', { kind: 'nginx', host }), {
        code: 'usage',
        message: /--host takes a DNS name/u,
      });
    await assert.rejects(runDeploy(folder, 'proxy', { kind: 'nginx' }), {
      code: 'usage',
      message: /--host is missing/u,
    });
    await assert.rejects(runDeploy(folder, 'proxy', { host: HOST }), { code: 'usage', message: /--kind is missing/u });
    await assert.rejects(runDeploy(folder, 'proxy', { kind: 'apache', host: HOST }), {
      code: 'usage',
      message: /--kind takes caddy or nginx or haproxy/u,
    });
    assert.equal(existsSync(join(folder, 'deploy')), false);

    await runDeploy(folder, 'proxy', { kind: 'nginx', host: 'Bücher.Example' });
    assert.match(readFileSync(join(folder, 'deploy', FILES.nginx), 'utf8'), /server_name xn--bcher-kva\.example;/u);
  });
});
