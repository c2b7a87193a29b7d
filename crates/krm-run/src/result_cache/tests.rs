//! Tests of the result cache, with a store in memory.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use super::*;
use crate::{Execution, ExecutionEnd, Function, Invocation, Limits, RunKind, Tail};

/// Entries in memory.
#[derive(Debug, Default)]
struct Memory(Mutex<BTreeMap<CacheKey, Vec<u8>>>);

impl ResultStore for Memory {
    fn get(&self, key: &CacheKey) -> Option<Vec<u8>> {
        self.0.lock().unwrap().get(key).cloned()
    }

    fn put(&self, key: &CacheKey, entry: &[u8]) -> bool {
        self.0.lock().unwrap().insert(*key, entry.to_vec());
        true
    }

    fn discard(&self, key: &CacheKey) {
        self.0.lock().unwrap().remove(key);
    }
}

/// A function that returns its input and the number of its runs so far, if it is impure.
#[derive(Default)]
struct Probe {
    runs: AtomicUsize,
    is_impure: bool,
    exit_code: i32,
    has_no_identity: bool,
}

impl Function for &Probe {
    fn name(&self) -> &str {
        "probe"
    }

    fn run(&self, invocation: &mut Invocation<'_>) -> Execution {
        let runs = self.runs.fetch_add(1, Ordering::Relaxed);
        let mut stdout = invocation.input.to_vec();
        if self.is_impure {
            stdout.extend_from_slice(runs.to_string().as_bytes());
        }
        let mut stderr = Tail::new(invocation.limits.stderr);
        stderr.push(b"said");
        let (duration, image) = (Duration::ZERO, None);
        Execution { stdout, stderr, duration, image, end: ExecutionEnd::Exited(self.exit_code) }
    }

    fn identity(&self) -> Option<FunctionIdentity> {
        (!self.has_no_identity).then(|| FunctionIdentity::new("probe"))
    }
}

fn call(probe: &Probe, store: &Arc<Memory>, mode: CacheMode, input: &str) -> Execution {
    let store: Arc<dyn ResultStore> = Arc::<Memory>::clone(store);
    let function = CachedFunction::new(probe, ResultCache::new(store, mode));
    let execution = function.run(&mut Invocation::new(input.as_bytes()));
    function.output_accepted();
    execution
}

fn runs(probe: &Probe) -> usize {
    probe.runs.load(Ordering::Relaxed)
}

#[test]
fn same_input_runs_once_and_returns_the_same() {
    let (probe, store) = (Probe::default(), Arc::default());
    let [first, second] = [0; 2].map(|_| call(&probe, &store, CacheMode::Write, "a"));
    assert_eq!((runs(&probe), &first.stdout), (1, &second.stdout));
    assert_eq!((first.stderr.text(), first.end), (second.stderr.text(), second.end));
    call(&probe, &store, CacheMode::Write, "b");
    assert_eq!(runs(&probe), 2, "another input");
}

#[test]
fn output_that_is_the_input_is_not_stored() {
    let (probe, store) = (Probe::default(), Arc::<Memory>::default());
    let input = "a".repeat(10_000);
    call(&probe, &store, CacheMode::Write, &input);
    let size = store.0.lock().unwrap().values().map(Vec::len).sum::<usize>();
    assert!(size < 1000, "{size}");
    let copied = call(&probe, &store, CacheMode::Write, &input);
    assert_eq!(copied.stdout, input.as_bytes());
    let function = CachedFunction::new(&probe, ResultCache::new(store, CacheMode::Read));
    let mut is_echo = false;
    let mut invocation = Invocation::new(input.as_bytes());
    invocation.is_echo = Some(&mut is_echo);
    let found = function.run(&mut invocation);
    assert_eq!(
        (runs(&probe), found.stdout.len(), found.stderr.text()),
        (1, 0, copied.stderr.text())
    );
    assert!(is_echo);
}

#[test]
fn limits_are_part_of_the_key() {
    let identity = FunctionIdentity::new("probe");
    let key = |limits: Limits| identity.call(&limits, b"a").key();
    let default = Limits::default();
    let others = [
        Limits { time: Duration::from_secs(1), ..default },
        Limits { output: 1, ..default },
        Limits { stderr: 1, ..default },
        Limits { memory: 1, ..default },
        Limits { processes: 1, ..default },
        Limits { steps: 1, ..default },
    ];
    let keys: std::collections::BTreeSet<CacheKey> =
        others.into_iter().chain([default]).map(key).collect();
    assert_eq!(keys.len(), 7);
}

#[test]
fn fields_cannot_be_shifted() {
    let key =
        |name: &str, value: &str| FunctionIdentity::new("x").field(name, value.as_bytes()).key();
    assert_ne!(key("ab", "c"), key("a", "bc"));
}

#[test]
fn failures_and_unknown_functions_are_not_cached() {
    for probe in [
        Probe { exit_code: 1, ..Probe::default() },
        Probe { has_no_identity: true, ..Probe::default() },
    ] {
        let store = Arc::default();
        call(&probe, &store, CacheMode::Write, "a");
        call(&probe, &store, CacheMode::Write, "a");
        assert_eq!((runs(&probe), store.0.lock().unwrap().len()), (2, 0));
    }
}

#[test]
fn output_that_is_not_accepted_is_not_cached() {
    let (probe, store) = (Probe::default(), Arc::<Memory>::default());
    let function = CachedFunction::new(&probe, ResultCache::new(store.clone(), CacheMode::Write));
    function.run(&mut Invocation::new(b"a"));
    assert!(store.0.lock().unwrap().is_empty());
}

#[test]
fn reading_stores_nothing() {
    let (probe, store) = (Probe::default(), Arc::default());
    call(&probe, &store, CacheMode::Read, "a");
    assert!(store.0.lock().unwrap().is_empty());
    call(&probe, &store, CacheMode::Write, "a");
    call(&probe, &store, CacheMode::Read, "a");
    assert_eq!(runs(&probe), 2);
}

#[test]
fn verification_finds_impure_functions_only() {
    for is_impure in [false, true] {
        let (probe, store) = (Probe { is_impure, ..Probe::default() }, Arc::default());
        let first = call(&probe, &store, CacheMode::Verify, "a");
        assert_eq!(first.end, ExecutionEnd::Exited(0), "nothing to compare with");
        let second = call(&probe, &store, CacheMode::Verify, "a");
        assert_eq!(second.end == ExecutionEnd::Stopped(RunKind::ImpureFunction), is_impure);
        assert_eq!(runs(&probe), 2);
        assert_eq!(store.0.lock().unwrap().is_empty(), is_impure, "a wrong entry is removed");
    }
}

#[test]
fn damaged_entry_is_a_miss_and_is_removed() {
    let (probe, store) = (Probe::default(), Arc::<Memory>::default());
    call(&probe, &store, CacheMode::Write, "a");
    let (key, entry) = store.0.lock().unwrap().clone().pop_first().unwrap();
    let mut damaged: Vec<Vec<u8>> = (0..entry.len()).map(|at| entry[..at].to_vec()).collect();
    damaged.extend((0..entry.len()).map(|at| {
        let mut entry = entry.clone();
        entry[at] ^= 1;
        entry
    }));
    damaged.push([&*entry, &b"x"[..]].concat());
    for bytes in damaged {
        assert!(!is_entry_of(&key, &bytes));
        store.put(&key, &bytes);
        let cache = ResultCache::new(store.clone(), CacheMode::Read);
        assert_eq!((cache.get(&key), store.get(&key)), (None, None));
    }
    let other = FunctionIdentity::new("other").key();
    assert!(is_entry_of(&key, &entry) && !is_entry_of(&other, &entry), "another key");
}

#[test]
fn digest_of_a_directory_covers_names_contents_and_permissions() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let mut seen = std::collections::BTreeSet::new();
    let mut is_new = || seen.insert(directory_digest(directory.path()).unwrap());
    std::fs::write(path("a"), "1").unwrap();
    assert!(is_new());
    assert!(!is_new());
    std::fs::write(path("a"), "2").unwrap();
    assert!(is_new(), "content");
    std::fs::rename(path("a"), path("b")).unwrap();
    assert!(is_new(), "name");
    std::fs::create_dir(path("c")).unwrap();
    assert!(is_new(), "directory");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path("b"), std::fs::Permissions::from_mode(0o600)).unwrap();
        assert!(is_new(), "permissions");
        std::os::unix::fs::symlink("b", path("d")).unwrap();
        assert!(is_new(), "symlink");
        std::fs::remove_file(path("d")).unwrap();
        std::os::unix::fs::symlink("c", path("d")).unwrap();
        assert!(is_new(), "target of a symlink");
    }
}

/// A function that is called with caches of its own and a store that others share.
fn call_shared(
    probe: &Probe,
    (local, shared): (&Arc<Memory>, &Arc<Memory>),
    (mode, shared_mode): (CacheMode, SharedMode),
) -> (Execution, ResultCache) {
    let (local, shared) = (Arc::<Memory>::clone(local), Arc::<Memory>::clone(shared));
    let cache = ResultCache::new(local, mode).with_shared(shared, shared_mode);
    let function = CachedFunction::new(probe, cache.clone());
    let execution = function.run(&mut Invocation::new(b"a"));
    function.output_accepted();
    (execution, cache)
}

/// The results of functions in a store. The digest of the program is an entry, too.
fn results(store: &Memory) -> usize {
    let entries = store.0.lock().unwrap();
    let of_function = |(key, entry): &(&CacheKey, &Vec<u8>)| {
        let result = CachedResult::decode(key, entry);
        result.is_some_and(|it| it.stdout.is_none_or(|it| it.len() != 32))
    };
    entries.iter().filter(of_function).count()
}

#[test]
fn machines_share_results_if_one_of_them_may_store_them() {
    let (probe, shared) = (Probe::default(), Arc::<Memory>::default());
    let write = (CacheMode::Write, SharedMode::Write);
    let read = (CacheMode::Write, SharedMode::Read);
    let machines: [Arc<Memory>; 3] = Default::default();
    let (first, cache) = call_shared(&probe, (&machines[0], &shared), read);
    assert_eq!((runs(&probe), results(&shared)), (1, 0), "only reading was allowed");
    assert_eq!(cache.shared_counts().unwrap(), SharedCounts { missing: 1, ..Default::default() });
    let (_, cache) = call_shared(&probe, (&machines[1], &shared), write);
    assert_eq!((runs(&probe), results(&shared)), (2, 1));
    let counts = SharedCounts { missing: 1, stored: 1, ..Default::default() };
    assert_eq!(cache.shared_counts(), Some(counts));
    let (third, cache) = call_shared(&probe, (&machines[2], &shared), read);
    assert_eq!((runs(&probe), &third.stdout), (2, &first.stdout));
    assert_eq!((third.stderr.text(), third.end), (first.stderr.text(), first.end));
    let counts = SharedCounts { found: 1, ..Default::default() };
    assert_eq!((cache.counts(), cache.shared_counts()), ((1, 0), Some(counts)));
    assert_eq!(results(&machines[2]), 1, "kept on this machine");
    let (_, cache) = call_shared(&probe, (&machines[2], &shared), read);
    assert_eq!(cache.shared_counts(), Some(SharedCounts::default()), "not asked again");
}

#[test]
fn reading_keeps_and_shares_nothing() {
    let (probe, shared) = (Probe::default(), Arc::<Memory>::default());
    let (one, two) = Default::default();
    call_shared(&probe, (&one, &shared), (CacheMode::Write, SharedMode::Write));
    let read = (CacheMode::Read, SharedMode::Write);
    call_shared(&probe, (&two, &shared), read);
    assert_eq!((runs(&probe), results(&two), results(&shared)), (1, 0, 1));
    shared.0.lock().unwrap().clear();
    call_shared(&probe, (&two, &shared), read);
    assert_eq!((runs(&probe), results(&two), results(&shared)), (2, 0, 0));
}

#[test]
fn shared_entry_that_is_damaged_or_of_another_call_is_a_miss() {
    let (probe, shared) = (Probe::default(), Arc::<Memory>::default());
    let write = (CacheMode::Write, SharedMode::Write);
    call_shared(&probe, (&Arc::default(), &shared), write);
    let (key, entry) = shared.0.lock().unwrap().clone().pop_first().unwrap();
    let other = CachedResult::with_output(b"a bad result".to_vec());
    let other = other.encode(&FunctionIdentity::new("other").key());
    let mut damaged = entry.clone();
    damaged[entry.len() / 2] ^= 1;
    for bytes in [other, damaged, entry[1..].to_vec(), Vec::new()] {
        shared.put(&key, &bytes);
        let ran =
            call_shared(&probe, (&Arc::default(), &shared), (CacheMode::Write, SharedMode::Read));
        assert_eq!(ran.0.stdout, b"a");
        assert_eq!(shared.get(&key), None, "reported to the store");
    }
    assert_eq!(runs(&probe), 5);
}

#[test]
fn verification_compares_with_shared_results() {
    let shared = Arc::<Memory>::default();
    let one = Probe { is_impure: true, ..Probe::default() };
    call_shared(&one, (&Arc::default(), &shared), (CacheMode::Write, SharedMode::Write));
    let verify = (CacheMode::Verify, SharedMode::Write);
    let (ran, _) = call_shared(&one, (&Arc::default(), &shared), verify);
    assert_eq!(ran.end, ExecutionEnd::Stopped(RunKind::SharedResultDiffers));
    let same = Probe { is_impure: true, ..Probe::default() };
    let local = Arc::default();
    let (ran, _) = call_shared(&same, (&local, &shared), verify);
    assert_eq!((ran.end, runs(&same), results(&local)), (ExecutionEnd::Exited(0), 1, 1));
}

#[test]
fn shared_key_differs_from_the_local_one_and_between_programs() {
    let call = FunctionIdentity::new("probe").call(&Limits::default(), b"a");
    let shared = call.shared_key(&[1; 32]);
    assert!(shared != call.shared_key(&[2; 32]) && shared != call.key());
}

#[test]
fn result_with_a_secret_stays_on_this_machine() {
    #[derive(Debug)]
    struct Secret;
    impl Function for Secret {
        fn name(&self) -> &str {
            "secret"
        }
        fn run(&self, invocation: &mut Invocation<'_>) -> Execution {
            let stdout = b"a: 1\n---\napiVersion: v1\nkind: Secret\ndata: {a: Yg==}\n".to_vec();
            let stderr = Tail::new(invocation.limits.stderr);
            let end = ExecutionEnd::Exited(0);
            Execution { stdout, stderr, duration: Duration::ZERO, image: None, end }
        }
        fn identity(&self) -> Option<FunctionIdentity> {
            Some(FunctionIdentity::new("secret"))
        }
    }
    let (local, shared) = (Arc::<Memory>::default(), Arc::<Memory>::default());
    let cache = ResultCache::new(local.clone(), CacheMode::Write)
        .with_shared(shared.clone(), SharedMode::Write);
    let call = |function: &dyn Function, input: &[u8]| {
        function.run(&mut Invocation::new(input));
        function.output_accepted();
    };
    let function = CachedFunction::new(Secret, cache.clone());
    call(&function, b"a");
    assert_eq!((results(&local), results(&shared)), (1, 0));
    assert_eq!(cache.shared_counts().unwrap().secret, 1);
    // Neither does what a validator reports about one.
    let probe = Probe::default();
    call(&CachedFunction::new(&probe, cache.clone()), b"apiVersion: v1\nkind: Secret\n");
    assert_eq!((results(&local), results(&shared)), (2, 0));
    assert_eq!(cache.shared_counts().unwrap().secret, 2);
}
