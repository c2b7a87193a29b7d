//! The `value!` macro, and values as JSON.

use krm_yaml::Value;

/// A value as JSON on one line, for messages and tests.
///
/// ```
/// assert_eq!(krm_sdk::to_json(&krm_sdk::value!({ "a": [1, "b", null] })), r#"{"a":[1,"b",null]}"#);
/// ```
pub fn to_json(value: &Value<'_>) -> String {
    krm_core::print::json::display(value)
}

/// A [`Value`] in the notation of JSON: for [`Resource::set`](crate::Resource::set),
/// [`Resource::from_value`](crate::Resource::from_value) and proposed values.
///
/// Keys are literals, or expressions in parentheses. Values are `null`, nested collections, or any expression that `Value` can be made
/// from. Fields keep their order.
///
/// ```
/// use krm_sdk::{Resource, value};
///
/// let (name, key, port) = ("web".to_owned(), "tier", 8080_u16);
/// let mut pod = Resource::parse("apiVersion: v1\nkind: Pod\n")?;
/// pod.set("spec.containers", value!([{
///     "name": &name,
///     "args": ["--port", port.to_string(), null],
///     "ports": [{ "containerPort": port }],
///     "labels": { (key): "front" },
///     "empty": {},
/// }]))?;
/// assert!(pod.text().ends_with("\
/// spec:
///   containers:
///   - name: web
///     args:
///     - --port
///     - \"8080\"
///     - null
///     ports:
///     - containerPort: 8080
///     labels:
///       tier: front
///     empty: {}
/// "));
/// # Ok::<(), krm_sdk::Error>(())
/// ```
#[macro_export]
macro_rules! value {
    (@items [$($done:expr,)*]) => { ::std::vec![$($done,)*] };
    (@items [$($done:expr,)*] null $(, $($rest:tt)*)?) => {
        $crate::value!(@items [$($done,)* $crate::value!(null),] $($($rest)*)?)
    };
    (@items [$($done:expr,)*] [$($inner:tt)*] $(, $($rest:tt)*)?) => {
        $crate::value!(@items [$($done,)* $crate::value!([$($inner)*]),] $($($rest)*)?)
    };
    (@items [$($done:expr,)*] {$($inner:tt)*} $(, $($rest:tt)*)?) => {
        $crate::value!(@items [$($done,)* $crate::value!({$($inner)*}),] $($($rest)*)?)
    };
    (@items [$($done:expr,)*] $next:expr $(, $($rest:tt)*)?) => {
        $crate::value!(@items [$($done,)* $crate::value!($next),] $($($rest)*)?)
    };
    (@entries [$($done:expr,)*]) => { ::std::vec![$($done,)*] };
    (@entries [$($done:expr,)*] ($key:expr) : $($rest:tt)*) => {
        $crate::value!(@entry [$($done,)*] ($key) $($rest)*)
    };
    (@entries [$($done:expr,)*] $key:literal : $($rest:tt)*) => {
        $crate::value!(@entry [$($done,)*] ($key) $($rest)*)
    };
    (@entry [$($done:expr,)*] ($key:expr) null $(, $($rest:tt)*)?) => {
        $crate::value!(@entries [$($done,)* ($crate::value!($key), $crate::value!(null)),] $($($rest)*)?)
    };
    (@entry [$($done:expr,)*] ($key:expr) [$($inner:tt)*] $(, $($rest:tt)*)?) => {
        $crate::value!(@entries [$($done,)* ($crate::value!($key), $crate::value!([$($inner)*])),] $($($rest)*)?)
    };
    (@entry [$($done:expr,)*] ($key:expr) {$($inner:tt)*} $(, $($rest:tt)*)?) => {
        $crate::value!(@entries [$($done,)* ($crate::value!($key), $crate::value!({$($inner)*})),] $($($rest)*)?)
    };
    (@entry [$($done:expr,)*] ($key:expr) $value:expr $(, $($rest:tt)*)?) => {
        $crate::value!(@entries [$($done,)* ($crate::value!($key), $crate::value!($value)),] $($($rest)*)?)
    };
    (null) => { $crate::yaml::Value::Null };
    ([$($items:tt)*]) => { $crate::yaml::Value::Sequence($crate::value!(@items [] $($items)*)) };
    ({$($entries:tt)*}) => { $crate::yaml::Value::Mapping($crate::value!(@entries [] $($entries)*)) };
    ($value:expr) => { $crate::yaml::Value::from($value) };
}
