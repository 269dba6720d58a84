//! Spec 3, rule by rule; a case is named after the section that it holds.

use ringfence_script::CodeOptions;
use serde_json::json;

use crate::cases;

cases! {
    s5_1_default_export_is_the_result(stage) {
        for source in [
            "export default 42;",
            "export default async () => 42;",
            "export default () => Promise.resolve(42);",
            "export default Promise.resolve(42);",
        ] {
            assert_eq!(stage.value(source, CodeOptions::new()).await, json!(42), "{source}");
        }
    }
}
