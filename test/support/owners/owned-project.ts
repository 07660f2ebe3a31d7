// A project of a user of its own, in a systemd that was booted for a test.
import type { BootedSystemd } from './booted-systemd.ts';

export interface OwnedProject {
  readonly path: string;
  readonly config: string;
  readonly token: string;
  readonly user: { readonly name: string; readonly id: number; readonly home: string; readonly shell: string };
}

/** With its user, who owns all of `home`. */
export async function layProject(systemd: BootedSystemd, { path, config, token, user }: OwnedProject): Promise<void> {
  const { name, id, home, shell } = user;
  const accounts = `echo "${name}:x:${id}:${id}::${home}:${shell}" >>/etc/passwd; echo "${name}:x:${id}:" >>/etc/group`;
  await systemd.must(['sh', '-c', accounts]);
  await systemd.write(`${path}/svc.config.yml`, config);
  await systemd.write(`${path}/.env`, `HTTP_TOKEN=${token}\n`);
  await systemd.write(`${path}/package.json`, '{"name":"bot","version":"1.0.0","type":"module"}\n');
  await systemd.write(`${path}/package-lock.json`, lockfile('1'));
  await systemd.must(['chmod', '600', `${path}/.env`]);
  await systemd.must(['chown', '-R', `${id}:${id}`, home]);
}

/** Another one counts as changed code. */
export const lockfile = (version: string): string =>
  `{"name":"bot","version":"${version}.0.0","lockfileVersion":3,"requires":true,"packages":{"":{"name":"bot","version":"1.0.0"}}}\n`;
