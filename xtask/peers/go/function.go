package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/kyaml/kio"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	sigs "sigs.k8s.io/yaml"
)

// The same function with three libraries: set replicas of every Deployment to 5 and change the image of its first container. The others only
// serialize everything again.
var functions = map[string]func() error{
	"fn-kyaml":           scaleWithKyaml,
	"fn-sigs":            scaleWithSigs,
	"fn-goyaml":          scaleWithNodes,
	"fn-identity-sigs":   func() error { return transform(func(any) {}) },
	"fn-identity-goyaml": identityWithNodes,
	"fn-identity-kyaml":  identityWithKyaml,
}

const (
	replicas = 5
	image    = "web:2.0"
)

// scaleWithKyaml uses kyaml, as most Go functions do; its nodes keep comments.
func scaleWithKyaml() error {
	scale := kio.FilterFunc(func(items []*kyaml.RNode) ([]*kyaml.RNode, error) {
		for _, item := range items {
			if item.GetKind() != "Deployment" {
				continue
			}
			number := kyaml.NewScalarRNode(fmt.Sprint(replicas))
			if err := item.PipeE(kyaml.Lookup("spec"), kyaml.SetField("replicas", number)); err != nil {
				return nil, err
			}
			name := kyaml.SetField("image", kyaml.NewStringRNode(image))
			if err := item.PipeE(kyaml.Lookup("spec", "template", "spec", "containers", "0"), name); err != nil {
				return nil, err
			}
		}
		return items, nil
	})
	return runWithKyaml(scale)
}

func identityWithKyaml() error {
	return runWithKyaml(kio.FilterFunc(func(items []*kyaml.RNode) ([]*kyaml.RNode, error) { return items, nil }))
}

func runWithKyaml(filter kio.Filter) error {
	list := &kio.ByteReadWriter{Reader: os.Stdin, Writer: os.Stdout, KeepReaderAnnotations: true}
	return kio.Pipeline{Inputs: []kio.Reader{list}, Filters: []kio.Filter{filter}, Outputs: []kio.Writer{list}}.Execute()
}

// scaleWithSigs decodes into maps through JSON, which loses comments, order, quotes and anchors.
func scaleWithSigs() error {
	return transform(scale)
}

func transform(change func(item any)) error {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	var list map[string]any
	if err := sigs.Unmarshal(text, &list); err != nil {
		return err
	}
	items, _ := list["items"].([]any)
	for _, item := range items {
		change(item)
	}
	output, err := sigs.Marshal(list)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(output)
	return err
}

func scale(item any) {
	resource, _ := item.(map[string]any)
	if resource["kind"] != "Deployment" {
		return
	}
	spec := resource["spec"].(map[string]any)
	spec["replicas"] = replicas
	pod := spec["template"].(map[string]any)["spec"].(map[string]any)
	pod["containers"].([]any)[0].(map[string]any)["image"] = image
}

// scaleWithNodes decodes into the nodes of go-yaml and encodes them with its own indentation.
func scaleWithNodes() error {
	var document yaml.Node
	if err := yaml.NewDecoder(os.Stdin).Decode(&document); err != nil {
		return err
	}
	for _, item := range field(document.Content[0], "items").Content {
		if field(item, "kind").Value != "Deployment" {
			continue
		}
		spec := field(item, "spec")
		field(spec, "replicas").Value = fmt.Sprint(replicas)
		containers := field(field(field(spec, "template"), "spec"), "containers")
		field(containers.Content[0], "image").Value = image
	}
	return encode(&document)
}

func identityWithNodes() error {
	var document yaml.Node
	if err := yaml.NewDecoder(os.Stdin).Decode(&document); err != nil {
		return err
	}
	return encode(&document)
}

func encode(document *yaml.Node) error {
	var output bytes.Buffer
	if err := yaml.NewEncoder(&output).Encode(document); err != nil {
		return err
	}
	_, err := os.Stdout.Write(output.Bytes())
	return err
}

func field(mapping *yaml.Node, name string) *yaml.Node {
	for at := 0; at+1 < len(mapping.Content); at += 2 {
		if mapping.Content[at].Value == name {
			return mapping.Content[at+1]
		}
	}
	return &yaml.Node{}
}
