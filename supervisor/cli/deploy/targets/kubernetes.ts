// `svc deploy init kubernetes`: a claim, one pod and its address for `kubectl apply -k`, a network policy, and a patch for older provisioners.
// The files hold no secret: kubectl makes one from `.env`.
import { inRange } from '../../doctor/version-range.ts';
import { fill } from '../../service/render.ts';
import { DEPLOY_PORT, type DeployProject, refused, requireReferences, stopSeconds } from '../project.ts';
import type { DeployTarget } from '../target.ts';
import { template, withHead } from '../template.ts';

const FOLDER = 'kubernetes';
const FILES = [
  'resources.yaml',
  'kustomization.yaml',
  'rwo.yaml',
  'open-volume.yaml',
  'network-policy/kustomization.yaml',
  'network-policy/policy.yaml',
];

/** The first svc that answers the readiness probe. */
const FIRST_READY = '0.1.0';

/** The default of Kubernetes. */
const SHORTEST_STOP_SECONDS = 30;

/** Makes the Secret, or replaces it. */
const SECRET =
  'kubectl create secret generic svc-secrets --from-env-file=.env --dry-run=client -o yaml | kubectl apply -f -';

export const target: DeployTarget = {
  name: 'kubernetes',
  summary: 'claim, Deployment, Service and network policy for kubectl apply -k',
  options: [],
  plan({ project }) {
    requireReferences(project);
    requireReadiness(project);
    const { name } = project;
    return {
      files: FILES.map((file) => {
        const path = `${FOLDER}/${file}`;
        const text = fill(template(path), {
          NAME: name,
          PORT: String(DEPLOY_PORT),
          STOP_SECONDS: String(stopSeconds(project, SHORTEST_STOP_SECONDS)),
        });
        return { path: `deploy/${path}`, text: withHead(path, text), mode: 0o644 };
      }),
      next: [SECRET, `kubectl apply -k deploy/${FOLDER}`, `kubectl rollout status deployment/${name}`],
      notes: [
        `Set your image in deploy/${FOLDER}/kustomization.yaml first: newName and newTag.`,
        `After each change of .env: the first command again, then kubectl rollout restart deployment/${name}.`,
        'The Secret is svc-secrets in every project: give each bot a namespace of its own (kubectl -n).',
      ],
    };
  },
};

/** Throws `refused` where the pod would never be ready: the probe asks for `/pub/ready`. */
function requireReadiness({ lockedVersion }: DeployProject): void {
  if (lockedVersion === undefined)
    throw refused('package-lock.json does not say which svc is installed', 'npm install svc');
  if (inRange(lockedVersion, `>=${FIRST_READY}`) === true) return;
  throw refused(
    `package-lock.json holds svc ${lockedVersion}, which has no /pub/ready: no pod of it would get ready`,
    `npm install svc@${FIRST_READY} or later`,
  );
}
