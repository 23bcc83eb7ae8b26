//! Tests that the table of abilities in the documentation agrees with the code.

use consort_agents::ALL;
use consort_agents::Ability;

#[test]
fn the_table_of_abilities_is_true() {
    let mut table = String::from("| |");
    ALL.iter().for_each(|cli| table.push_str(&format!(" {} |", cli.title())));
    table.push_str("\n|---|");
    ALL.iter().for_each(|_| table.push_str("---|"));
    for ability in Ability::ALL {
        table.push_str(&format!("\n| {} |", ability.about()));
        ALL.iter().for_each(|cli| {
            table.push_str(if cli.missing_abilities().contains(&ability) { " – |" } else { " yes |" })
        });
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/agents.md");
    let page = std::fs::read_to_string(path).unwrap();
    assert!(page.contains(&table), "docs/agents.md should have:\n{table}");
}
