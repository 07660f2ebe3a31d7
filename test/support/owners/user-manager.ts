// The manager of a user in a systemd that was booted for a test.
import type { BootedSystemd, InsideOptions } from './booted-systemd.ts';

export interface ManagedUser {
  readonly name: string;
  readonly id: number;
  readonly home: string;
}

/** As logind's template has it, without PAM, which a machine in memory does not have. */
const managerOf = ({ name, id, home }: ManagedUser): string => `[Service]
Type=notify
User=${name}
Slice=user-${id}.slice
Environment=XDG_RUNTIME_DIR=/run/user/${id} HOME=${home}
ExecStart=/usr/lib/systemd/systemd --user
Delegate=pids memory
KillMode=mixed
`;

/** Programs of this user, who is logged in. */
export const asUser = ({ name, id, home }: ManagedUser): InsideOptions => ({
  user: String(id),
  env: { HOME: home, USER: name, XDG_RUNTIME_DIR: `/run/user/${id}` },
});

/** The user is there already. */
export async function startUserManager(systemd: BootedSystemd, user: ManagedUser): Promise<void> {
  const id = String(user.id);
  await systemd.must(['install', '-d', '-m', '700', '-o', id, '-g', id, `/run/user/${id}`]);
  await systemd.write(`/etc/systemd/system/user@${id}.service`, managerOf(user));
  await systemd.must(['systemctl', 'daemon-reload']);
  // What any machine has once a service of the system was walled in: a root for new mounts. And a /var/tmp, which this one makes later.
  await systemd.must(['systemd-run', '--wait', '--quiet', '--property=ProtectSystem=strict', 'true']);
  await systemd.must(['mkdir', '-p', '-m', '1777', '/var/tmp']);
  await systemd.must(['systemctl', 'start', `user@${id}.service`]);
}
