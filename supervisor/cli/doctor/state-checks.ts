// Checks of machine and state: address, port, state folder, disk, owner. Those of the database are in a file of their own.
import { accessSync, chmodSync, constants, existsSync, lstatSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { processEnvironment } from '../../../shared/config/environment.ts';
import { fewFilesLeft, INODES_REMEDY } from '../../../shared/files/free-files.ts';
import { checkStateFolder } from '../../../shared/files/state-folder.ts';
import { isEveryAddress } from '../../../shared/ip-address.ts';
import { isContainer } from '../../../shared/process/container.ts';
import { bindFault, listenerOf } from '../../../shared/process/port-owner.ts';
import { commandOf } from '../../../shared/process/process-identity.ts';
import { coerceError, messageOf } from '../../../shared/svc-error.ts';
import { findRunning, liveWorker, type RunningProject } from '../connect/control-client.ts';
import { type KnownOwner, knownOwners, ownerPlaces } from '../service/owners.ts';
import { type Check, type Finding, fault, ok, repairable, type Subject, skip, warn, withConfig } from './check.ts';
import { DATABASE_CHECKS } from './database-checks.ts';

const MIB = 1024 * 1024;
/** Free space above the configured minimum that needs no warning. */
const COMFORT_BYTES = 512 * MIB;

export const STATE_CHECKS: readonly Check[] = [
  {
    id: 'http.bind',
    title: 'The address is one that others cannot reach by mistake',
    run: withConfig(({ config }) => bindAddress(config.http.host, isContained())),
  },
  {
    id: 'http.port',
    title: 'The port is free, or ours',
    run: withConfig(({ config }, subject) => port(subject, config.http)),
  },
  { id: 'state.folder', title: '.svc is ours alone', run: stateFolder },
  { id: 'state.filesystem', title: 'State lies on a local file system', run: fileSystem },
  {
    id: 'state.space',
    title: 'There is space left',
    run: withConfig(({ config }, { paths }) =>
      space([paths.stateDir, resolve(paths.project, config.database.filename)], config.disk.minFreeBytes),
    ),
  },
  ...DATABASE_CHECKS,
  { id: 'owner.single', title: 'One owner starts this project', run: singleOwner },
];

/** Exported for tests, which may themselves run in a container. */
export function bindAddress(host: string, contained: boolean): Finding {
  if (!isEveryAddress(host)) return ok(host);
  if (contained) return ok(`${host} inside a container`);
  return warn(
    `${host} is every address of this machine`,
    'set http.host to 127.0.0.1 and put a proxy with TLS before it',
  );
}

export const isContained = (): boolean => isContainer({ environment: processEnvironment() });

async function port(
  { paths }: Subject,
  { host, port: wanted }: { readonly host: string; readonly port: number },
): Promise<Finding> {
  if (wanted === 0) return skip('any port');
  const running = await findRunning(paths.project).catch(() => undefined);
  if (running?.status.address?.port === wanted)
    return ok(`${wanted} is held by this project, pid ${running.status.pid}`);
  const code = await bindFault(host, wanted);
  if (code === undefined) return ok(`${wanted} is free`);
  if (code !== 'EADDRINUSE')
    return fault(`${host}:${wanted} cannot be bound: ${code}`, 'change http.host or http.port');
  const pid = listenerOf(wanted);
  return fault(
    `port ${wanted} is held by ${pid === undefined ? 'another process' : `pid ${pid} (${commandOf(pid)})`}`,
    'end that process, or change http.port',
  );
}

function stateFolder({ paths }: Subject): Finding {
  if (!existsSync(paths.stateDir)) return canMake(paths.project);
  const stat = lstatSync(paths.stateDir);
  const isOurs = stat.uid === process.getuid?.() && stat.isDirectory();
  try {
    checkStateFolder(paths.stateDir);
    accessSync(paths.stateDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { message, hint } = coerceError(error);
    const other = isOurs ? `chmod 0700 ${paths.stateDir}` : 'run svc as the user that the host runs as';
    const finding = fault(message, hint ?? other);
    return isOurs ? repairable(finding, () => chmodSync(paths.stateDir, 0o700)) : finding;
  }
  return ok(`mode 0${(stat.mode & 0o777).toString(8)}, owned by ${isOurs ? 'us' : 'root, with our group'}`);
}

function canMake(project: string): Finding {
  try {
    accessSync(project, constants.W_OK);
    return skip('not made yet');
  } catch (error) {
    return fault(
      `cannot be made: ${messageOf(error)}`,
      'make the project folder writable for the user that the host runs as',
    );
  }
}

/** Magic numbers of statfs(2). Locks and the WAL of SQLite are unreliable on these file systems. */
const NETWORK: Readonly<Record<number, string>> = {
  0x6969: 'NFS',
  0xff534d42: 'CIFS',
  0xfe534d42: 'SMB',
  0x517b: 'SMB',
  0x01021997: '9p',
  0x00c36400: 'Ceph',
  0x5346414f: 'AFS',
  0x0bd00bd0: 'Lustre',
};
const FUSE = 0x65735546;
const BTRFS = 0x9123683e;
/** Page size of SQLite's shared memory. On smaller file system blocks SQLite allocates one block in each page. */
const PAGE_BYTES = 4_096;

/** Checks the file systems of the state folder and of the database, which may differ. */
async function fileSystem({ paths, config }: Subject): Promise<Finding> {
  const places = [['the project', paths.stateDir]];
  if (!('fault' in config)) places.push(['the database', resolve(paths.project, config.config.database.filename)]);
  const findings: Finding[] = [];
  for (const [what = '', path = ''] of places) {
    const { type, bsize } = await statfs(there(path));
    findings.push(fileSystemFinding(type, bsize, what));
  }
  return worstOf(findings);
}

/** The first error, else the first warning, else the first finding. */
export const worstOf = (findings: readonly Finding[]): Finding =>
  findings.find(({ status }) => status === 'error') ??
  findings.find(({ status }) => status === 'warn') ??
  findings[0] ??
  ok('local');

/** Exported for tests, which cannot mount such a file system. */
export function fileSystemFinding(type: number, blockBytes = PAGE_BYTES, what = 'the project'): Finding {
  const network = NETWORK[type >>> 0];
  if (network !== undefined)
    return fault(`${what} lies on ${network}, where the locks of SQLite do not hold`, 'move it to a local disk');
  if (type >>> 0 === FUSE)
    return warn(`${what} lies on a FUSE file system, which may be a remote one`, 'move it to a local disk');
  if (type >>> 0 === BTRFS || blockBytes < PAGE_BYTES)
    return warn(
      `${type >>> 0 === BTRFS ? 'on btrfs' : `with blocks of ${blockBytes} bytes`} a disk that is quite full ends the worker (SIGBUS, in memory that SQLite shares by a file)`,
      'keep room free there, or put .svc on ext4 or XFS with blocks of 4096 bytes',
    );
  return ok('local');
}

/** Checks the disks of the state folder and of the database, as the host does: bytes and inodes. */
async function space([state, file]: readonly [string, string], leastBytes: number): Promise<Finding> {
  const disks = await Promise.all([statfs(there(state)), statfs(there(file))]);
  const fewFiles = disks.map(fewFilesLeft).find((reason) => reason !== undefined);
  if (fewFiles !== undefined) return fault(`${fewFiles}, and ingress would answer 503`, INODES_REMEDY);
  const [ofState, ofDatabase] = disks.map(({ bavail, bsize }) => bavail * bsize) as [number, number];
  const where = ofDatabase < leastBytes && ofState >= leastBytes ? ' where the database lies' : '';
  const least = Math.min(ofState, ofDatabase);
  const free = `${Math.floor(least / MIB)} MiB free${where}`;
  if (least < leastBytes)
    return fault(
      `${free}, under disk.minFreeBytes: ingress would answer 503`,
      'make space, or lower disk.minFreeBytes',
    );
  return least < leastBytes + COMFORT_BYTES ? warn(`${free}, near disk.minFreeBytes`, 'make space') : ok(free);
}

/** The path, or the nearest existing folder above it. */
function there(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : there(dirname(path));
}

async function singleOwner({ paths, env }: Subject): Promise<Finding> {
  const worker = liveWorker(paths.project);
  let running: RunningProject | undefined;
  let silent: Finding | undefined;
  try {
    running = await findRunning(paths.project);
  } catch (error) {
    const { code, message, hint } = coerceError(error);
    if (code === 'state_dir_unsafe') return skip(message);
    silent = fault(message, hint ?? '');
  }
  const known = knownOwners(paths.project, ownerPlaces(env));
  const [first, second] = known;
  if (first !== undefined && second !== undefined)
    return fault(`${nameOf(first)} and ${nameOf(second)} both start this project`, second.remove);
  if (running === undefined) {
    if (silent !== undefined) return silent;
    if (worker !== undefined)
      return fault(`pid ${worker.pid}, started by ${worker.owner}, runs but does not answer`, `kill ${worker.pid}`);
    return ok(first === undefined ? 'nothing is running' : `${nameOf(first)}; nothing is running`);
  }
  const { owner, pid, supervisorPid, ownerStop } = running.status;
  if (running.who === 'supervisor' && worker !== undefined && worker.owner !== 'daemon') {
    return fault(
      `a daemon (pid ${supervisorPid}) and ${worker.owner} (pid ${worker.pid}) both want this project`,
      'svc runtime stop, or end the other one',
    );
  }
  if (first !== undefined && first.kind !== owner)
    return fault(
      `${owner} (pid ${pid ?? supervisorPid}) runs this project, and ${nameOf(first)} would start it too`,
      `${ownerStop ?? 'svc runtime stop'}, or ${first.remove}`,
    );
  return ok(`${first === undefined ? owner : nameOf(first)}, pid ${pid ?? supervisorPid}`);
}

const nameOf = ({ kind, name }: KnownOwner): string => `${kind} (${name})`;
